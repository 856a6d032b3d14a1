import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'
import { lockArrival } from './store.ts'

/** A transfer into the treasury that the chain can no longer take back: only of such may a person dispose. */
export async function finalArrival(
  tx: Tx,
  network: Network,
  reference: string,
): Promise<{ readonly payer: string | null; readonly purpose: string }> {
  const arrival = await lockArrival(tx, network, reference)
  if (arrival === undefined)
    throw new ApiError('not_found', `No transfer ${reference} into the treasury is known on ${network}`)
  if (arrival.state === 'gone')
    throw new ApiError('conflict', 'The chain took this transfer back; there is nothing to give')
  if (arrival.state !== 'final')
    throw new ApiError('conflict', 'This transfer may still be undone. Try again when it is final.')
  return arrival
}
