import type { Operation } from '@market/contract/define'
import { assert } from '@market/kernel/assert'
import type { NextCursor } from '@market/kernel/cursor'
import { z } from 'zod'
import { type ByteBudget, fitting, REST_BUDGET } from './byte-budget.ts'
import type { ApiResponse } from './call.ts'
import type { CachedDocument } from './x402/cached-document.ts'

interface Presented {
  readonly data: unknown
  readonly isLater?: boolean
  readonly next_cursor?: NextCursor
}

/**
 * The response of a success. The contract's schema removes fields that it does not list. A list ends early where the
 * budget is used up.
 */
export function envelope(
  operation: Operation,
  presented: Presented | CachedDocument,
  budget: ByteBudget = REST_BUDGET,
): ApiResponse {
  const caching: Record<string, string> =
    operation.cacheSeconds === undefined
      ? {}
      : { 'Cache-Control': `public, max-age=${operation.cacheSeconds}` }
  if ('etag' in presented)
    return { status: 200, body: null, json: presented.json, headers: { ...caching, ETag: presented.etag } }
  const { isLater = false, next_cursor, ...whole } = presented
  return {
    status: (isLater ? operation.laterStatus : undefined) ?? operation.status ?? 200,
    ...(next_cursor === undefined
      ? { body: bodyOf(operation, whole) }
      : pageOf(operation, { ...whole, next_cursor }, budget)),
    headers: caching,
  }
}

function bodyOf(operation: Operation, { data, ...beside }: Presented): unknown {
  const parsed = operation.output.parse(data)
  return operation.isBare === true
    ? parsed
    : { success: true, data: parsed, ...operation.beside?.parse(beside) }
}

/** The items are serialized one by one until the budget ends, and not again when the response is sent. */
function pageOf(
  operation: Operation,
  { data, next_cursor, ...beside }: Presented & { readonly next_cursor: NextCursor },
  budget: ByteBudget,
): Pick<ApiResponse, 'body' | 'json'> {
  assert(Array.isArray(data) && operation.output instanceof z.ZodArray, `${operation.id} returns a list`)
  const { element } = operation.output as z.ZodArray<z.ZodType>
  const items: unknown[] = []
  const texts = fitting(data, budget, (item) => {
    const parsed = element.parse(item)
    items.push(parsed)
    return JSON.stringify(parsed)
  })
  const shown = items.slice(0, texts.length)
  const others = operation.beside?.parse({ ...beside, next_cursor: next_cursor(shown.length) }) ?? {}
  return {
    body: { success: true, data: shown, ...others },
    json: `{"success":true,"data":[${texts.join(',')}],${JSON.stringify(others).slice(1)}`,
  }
}
