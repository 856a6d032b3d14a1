import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { accountFollower, type Happening } from './follow-account.ts'
import type { SolanaNodes } from './nodes.ts'
import { memosIn, type TreasuryAccount } from './read-transfer.ts'
import { payoutIdIn } from './sign-payout.ts'

/** Null where no memo names a payout, or several do. */
const payoutIdOf = ({ transaction }: Happening): string | null => {
  const named = new Set(memosIn(transaction).flatMap((memo) => payoutIdIn(memo) ?? []))
  const [one, ...more] = named
  return one === undefined || more.length > 0 ? null : one
}

/** Undefined for what took nothing out of the treasury: a payment to us, a failure. */
const outgoingTransferOf = (
  happening: Happening,
  treasury: TreasuryAccount,
): ObservedOutgoingTransfer | undefined => {
  const { signature, change, at, block } = happening
  if (change.gained >= 0n) return undefined
  const [payee = null, ...others] = change.gainers
  return {
    reference: signature,
    // Without the treasury's signature anybody could have written the memo.
    payoutId: change.signers.includes(treasury.owner) ? payoutIdOf(happening) : null,
    payee: others.length > 0 ? null : payee,
    amount: usdc(-change.gained),
    nonce: null,
    at,
    block,
    final: true,
  }
}

/** Follows what leaves the treasury. */
export const outgoingTransfersFollower = (
  nodes: SolanaNodes,
  treasury: () => Promise<TreasuryAccount>,
  bounds: { readonly page?: number; readonly minSlot?: () => bigint } = {},
) => {
  const follow = accountFollower(nodes, treasury, outgoingTransferOf, bounds)
  return async (
    from: string | undefined,
    limit: number,
  ): Promise<{
    readonly outgoingTransfers: readonly ObservedOutgoingTransfer[]
    readonly position: string
    readonly isEnd?: boolean
  }> => {
    const { seen, position, isEnd } = await follow(from, limit)
    return { outgoingTransfers: seen, position, ...(position !== from && { isEnd }) }
  }
}
