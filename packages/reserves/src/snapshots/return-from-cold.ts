import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, cold, post, suspense } from '@market/money/ledger'
import { findUnclaimedFrom, lockTransfer, type TransferKey, transferName } from '@market/money/payments'
import { sumMovingToCold } from '@market/money/payouts'

/**
 * Money that came back from the cold address belongs to nobody else: from suspense to the account of that address. What
 * exceeds that account stays in suspense, for operators.
 */
export async function returnFromCold(ctx: Needs<'db' | 'clock' | 'ids'>, chain: Chain): Promise<void> {
  const { network, cold: address } = chain
  if (address === undefined) return
  for (const key of await findUnclaimedFrom(ctx.db, network, address)) await returnTransfer(ctx, key, address)
}

/** What came back and is not posted yet: it is in the treasury, and the account of the cold address still has it. */
export async function sumReturned(tx: Tx, network: Network, address: string): Promise<bigint> {
  let sum = 0n
  for (const key of await findUnclaimedFrom(tx, network, address))
    sum += await balanceOf(tx, suspense(network, transferName(key)))
  const moved = await movedTo(tx, network, address)
  return sum < moved ? sum : moved
}

/** What has arrived at the cold address. */
const movedTo = async (tx: Tx, network: Network, address: string): Promise<bigint> =>
  -(await balanceOf(tx, cold(network, address))) - (await sumMovingToCold(tx, network))

const returnTransfer = (
  ctx: Needs<'db' | 'clock' | 'ids'>,
  key: TransferKey,
  address: string,
): Promise<void> =>
  transact(ctx.db, async (tx) => {
    const { network } = key
    const transfer = await lockTransfer(tx, key)
    if (transfer?.state !== 'final' || transfer.purpose !== null) return
    const name = transferName(key)
    const from = suspense(network, name)
    const [arrived, moved] = [await balanceOf(tx, from), await movedTo(tx, network, address)]
    const amount = arrived < moved ? arrived : moved
    if (amount <= 0n) return
    // With what was left of it: the rest can be returned later.
    await post(ctx, tx, {
      key: `transfer.returned:${network}:${name}:${arrived}`,
      reason: 'transfer.returned',
      subject: name,
      network,
      moves: [{ from, to: cold(network, address), amount: usdc(amount) }],
    })
  })
