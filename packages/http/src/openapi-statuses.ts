import { isWrite, type Operation } from '@market/contract/define'
import type { FailureStatus } from '@market/contract/errors'

/** Statuses every operation can answer, whatever it does. */
const SHARED: readonly FailureStatus[] = [400, 401, 429, 500, 503]

export function statusesOf(operation: Operation): FailureStatus[] {
  const known = new Set<FailureStatus>([...SHARED, ...(operation.errors ?? [])])
  if (operation.callers.some((kind) => kind !== 'anonymous')) known.add(403)
  if (isWrite(operation)) known.add(409).add(413).add(415).add(422)
  return [...known].sort((a, b) => a - b)
}
