import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { type AccountTransaction, accountFollower, type FollowOptions } from './follow-account.ts'
import type { SolanaNodes } from './nodes.ts'
import { memosIn, type TreasuryAccount } from './read-transfer.ts'
import { payoutIdIn } from './sign-payout.ts'

/** Null when no memo contains a payout id, or several do. */
const payoutIdOf = ({ transaction }: AccountTransaction): string | null => {
  const ids = new Set(memosIn(transaction).flatMap((memo) => payoutIdIn(memo) ?? []))
  const [id, ...others] = ids
  return id === undefined || others.length > 0 ? null : id
}

/** Undefined when the transaction did not reduce the treasury, such as an incoming or a failed transfer. */
const outgoingTransferOf = (
  entry: AccountTransaction,
  treasury: TreasuryAccount,
): ObservedOutgoingTransfer | undefined => {
  const { signature, change, at, block } = entry
  if (change.treasuryChange >= 0n) return undefined
  const [payee = null, ...others] = change.receivers
  return {
    reference: signature,
    // Without the treasury's signature, anyone could have written the memo.
    payoutId: change.signers.includes(treasury.owner) ? payoutIdOf(entry) : null,
    payee: others.length > 0 ? null : payee,
    amount: usdc(-change.treasuryChange),
    nonce: null,
    at,
    block,
    final: true,
  }
}

/** Reads the transfers out of the treasury. */
export const outgoingTransfersFollower = (
  nodes: SolanaNodes,
  treasury: () => Promise<TreasuryAccount>,
  options: FollowOptions = {},
) => {
  const follow = accountFollower(nodes, treasury, outgoingTransferOf, options)
  return async (
    from: string | undefined,
    limit: number,
  ): Promise<{
    readonly outgoingTransfers: readonly ObservedOutgoingTransfer[]
    readonly position: string
    readonly isEnd?: boolean
  }> => {
    const { items, position, isEnd } = await follow(from, limit)
    return { outgoingTransfers: items, position, ...(position !== from && { isEnd }) }
  }
}
