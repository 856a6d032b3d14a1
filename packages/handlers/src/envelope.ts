import type { Operation } from '@market/contract/define'
import { assert } from '@market/kernel/assert'
import type { NextCursor } from '@market/kernel/cursor'
import { z } from 'zod'
import { type ByteBudget, collector, REST_BUDGET } from './byte-budget.ts'
import type { ApiResponse } from './call.ts'
import { sharedResponse } from './shared-read.ts'
import type { CachedDocument } from './x402/cached-document.ts'

interface Presented {
  readonly data: unknown
  readonly isLater?: boolean
  readonly cookie?: ApiResponse['cookie']
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
  if ('etag' in presented) return sharedResponse(operation, presented)
  const { isLater = false, next_cursor, cookie, ...whole } = presented
  if (next_cursor !== undefined) {
    const page = openPage(operation, budget)
    page.add({ ...whole, next_cursor })
    return page.response()
  }
  return {
    status: (isLater ? operation.laterStatus : undefined) ?? operation.status ?? 200,
    body: bodyOf(operation, whole),
    headers: {},
    ...(cookie && { cookie }),
  }
}

function bodyOf(operation: Operation, { data, ...beside }: Omit<Presented, 'cookie'>): unknown {
  const parsed = operation.output.parse(data)
  return operation.isBare === true
    ? parsed
    : { success: true, data: parsed, ...operation.beside?.parse(beside) }
}

type PresentedList = Presented & { readonly next_cursor: NextCursor }

/** A page that is filled part by part, until its budget ends. */
export interface OpenPage {
  add(part: PresentedList): void
  readonly isFull: boolean
  readonly count: number
  response(): ApiResponse
}

const COMMA = Buffer.from(',')

/** What `JSON.stringify` of the whole body would return, without encoding the items again. */
const listBytes = (items: readonly Buffer[], besides: object): Buffer =>
  Buffer.concat([
    Buffer.from('{"success":true,"data":['),
    ...items.flatMap((item, at) => (at === 0 ? [item] : [COMMA, item])),
    Buffer.from(`],${JSON.stringify(besides).slice(1)}`),
  ])

/** The items are serialized and encoded one by one until the budget ends, and not again when the response is sent. */
export function openPage(operation: Operation, budget: ByteBudget): OpenPage {
  assert(operation.output instanceof z.ZodArray, `${operation.id} returns a list`)
  const { element } = operation.output as z.ZodArray<z.ZodType>
  const items: unknown[] = []
  const collected = collector(budget)
  let others: Presented | undefined
  let nextCursor: string | null = null
  return {
    add({ data, next_cursor, ...beside }) {
      assert(Array.isArray(data), `${operation.id} returns a list`)
      const before = items.length
      for (const item of data) {
        const parsed = element.parse(item)
        if (!collected.add(JSON.stringify(parsed))) break
        items.push(parsed)
      }
      others ??= beside as Presented
      // Without an item of this part, the cursor of the one before continues with its first.
      if (before === 0 || items.length > before) nextCursor = next_cursor(items.length - before)
    },
    get isFull() {
      return collected.isFull
    },
    get count() {
      return items.length
    },
    response() {
      const besides = operation.beside?.parse({ ...others, next_cursor: nextCursor }) ?? {}
      return {
        status: operation.status ?? 200,
        body: { success: true, data: items, ...besides },
        json: listBytes(collected.encodedItems, besides),
        headers: {},
      }
    },
  }
}
