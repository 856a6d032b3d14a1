const WITH_BATCHES = '2025-03-26'
const MAX_MESSAGES = 10

/** How many messages a body counts for. One with too many is rejected as a whole, and counts for no more than the maximum. */
// fix: batch-cost
export const countMessages = (body: unknown): number =>
  Array.isArray(body) ? Math.min(Math.max(body.length, 1), MAX_MESSAGES) : 1

/**
 * Why a batch is rejected, or undefined. Only 2025-03-26 has batches, and its clients need not send a version. Of two
 * messages with one id, only one would get a response.
 */
export function batchError(body: unknown, version: string | null): string | undefined {
  if (!Array.isArray(body)) return undefined
  if (version !== null && version !== WITH_BATCHES)
    return `Protocol version ${version} has no batches. Send one message per request.`
  if (body.length === 0) return 'The batch is empty.'
  if (body.length > MAX_MESSAGES)
    return `The batch has ${body.length} messages. At most ${MAX_MESSAGES} are allowed.`
  const ids = body.flatMap((one) => one?.id ?? [])
  return new Set(ids).size < ids.length ? 'Two messages of the batch have the same id.' : undefined
}
