import type { ToolRequest } from '@market/contract/tools/call'
import type { ToolResult } from '@market/contract/tools/results'

/** A model has to read the result. The API ends a page of REST much later. */
const RESULT_BYTES = 64 * 1024

/** The request with at most `limit` items. */
export const withLimit = (request: ToolRequest, limit: number | undefined): ToolRequest =>
  limit === undefined ? request : { ...request, input: { ...request.input, limit } }

/** Calls again with a smaller limit until the list of the result is short, or has one item. */
export async function callUntilShort(call: (limit?: number) => Promise<ToolResult>): Promise<ToolResult> {
  let result = await call()
  for (let most = Number.POSITIVE_INFINITY; ; ) {
    const items = itemsOf(result)
    const bytes = Buffer.byteLength(JSON.stringify(result))
    if (bytes <= RESULT_BYTES || items <= 1 || items >= most) return result
    most = items
    // A tenth less than their average size allows, because the first items can be larger.
    result = await call(Math.max(1, Math.floor((items * RESULT_BYTES * 0.9) / bytes)))
  }
}

/** How many items a page has; 0 for what is not a page. */
const itemsOf = ({ structuredContent: { data, next_cursor } = {} }: ToolResult): number =>
  Array.isArray(data) && next_cursor !== undefined ? data.length : 0
