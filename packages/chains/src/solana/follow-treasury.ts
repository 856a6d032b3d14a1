import type { IncomingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { accountFollower, type Happening } from './follow-account.ts'
import type { SolanaNodes } from './nodes.ts'
import { attachedTo, isOwn, payerOf, type TreasuryAccount } from './read-transfer.ts'

/** Undefined for what is no payment to us: a payout, a failure, a transfer of our own. */
const transferOf = (
  { signature, transaction, change, at, block }: Happening,
  own: ReadonlySet<string>,
): IncomingTransfer | undefined => {
  if (change.gained <= 0n || isOwn(change, own)) return undefined
  const payer = payerOf(change)
  return {
    reference: signature,
    amount: usdc(change.gained),
    payer: payer.kind === 'one' ? payer.key : null,
    at,
    block,
    final: true,
    attachedData: attachedTo(transaction),
  }
}

/** Follows what comes into the treasury. */
export const treasuryFollower = (
  nodes: SolanaNodes,
  treasury: () => Promise<TreasuryAccount>,
  own: ReadonlySet<string>,
  page?: number,
) => {
  const follow = accountFollower(
    nodes,
    treasury,
    (happening) => transferOf(happening, own),
    page === undefined ? {} : { page },
  )
  return async (
    from: string | undefined,
    limit: number,
  ): Promise<{ readonly transfers: readonly IncomingTransfer[]; readonly position: string }> => {
    const { seen, position } = await follow(from, limit)
    return { transfers: seen, position }
  }
}
