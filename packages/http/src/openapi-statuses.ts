import { hasBody, isWrite, type Operation } from '@market/contract/define'
import type { FailureStatus } from '@market/handlers/failure-statuses'

/** Error statuses of every operation. */
const SHARED: readonly FailureStatus[] = [400, 401, 429, 500, 503]

export function statusesOf(operation: Operation): FailureStatus[] {
  const known = new Set<FailureStatus>([...SHARED, ...(operation.errors ?? [])])
  // Everybody can read and buy: a credential of another kind is ignored there.
  const isOpen = !isWrite(operation) || operation.payment?.when === 'always'
  const isForAll = isOpen && operation.callers.includes('anonymous')
  if (!isForAll && operation.callers.some((kind) => kind !== 'anonymous')) known.add(403)
  if (isWrite(operation)) known.add(409)
  if (isWrite(operation) || hasBody(operation)) known.add(413).add(415)
  if (operation.file) known.add(408)
  // A purchase is replayed by its payment, and a conflict is 409.
  if (isWrite(operation) && operation.payment?.when !== 'always') known.add(422)
  return [...known].sort((a, b) => a - b)
}
