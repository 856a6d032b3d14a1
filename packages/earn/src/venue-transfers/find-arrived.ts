import type { Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import { type Account, balanceOf, suspense } from '@market/money/ledger'
import { lockTransfer, transferName } from '@market/money/payments'
import type { VenueTransfer } from './venue-transfer.ts'

interface Arrived {
  readonly account: Account
  readonly amount: Usdc
  readonly isFinal: boolean
}

/** What the transaction of a venue transfer brought into the treasury. A vault can pay in several transfers. */
export async function findArrived(
  tx: Tx,
  { network }: Pick<VenueTransfer, 'network'>,
  reference: string,
): Promise<Arrived[]> {
  const arrived: Arrived[] = []
  for (let index = 0; ; index++) {
    const key = { network, reference, index }
    const transfer = await lockTransfer(tx, key)
    if (transfer === undefined) return arrived
    const account = suspense(network, transferName(key))
    arrived.push({
      account,
      amount: usdc(await balanceOf(tx, account)),
      isFinal: transfer.state === 'final',
    })
  }
}
