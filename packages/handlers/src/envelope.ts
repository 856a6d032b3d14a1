import type { Operation } from '@market/contract/define'
import type { ApiResponse } from './call.ts'

interface Presented {
  readonly data: unknown
  readonly isLater?: boolean
}

/** The response of a success. The contract's schema removes fields that it does not list. */
export function envelope(operation: Operation, presented: Presented): ApiResponse {
  const { data, isLater = false, ...beside } = presented
  const parsed = operation.output.parse(data)
  return {
    status: (isLater ? operation.laterStatus : undefined) ?? operation.status ?? 200,
    body:
      operation.isBare === true
        ? parsed
        : { success: true, data: parsed, ...operation.beside?.parse(beside) },
    headers:
      operation.cacheSeconds === undefined
        ? {}
        : { 'Cache-Control': `public, max-age=${operation.cacheSeconds}` },
  }
}
