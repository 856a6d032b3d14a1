import type { IncomingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { type AccountTransaction, accountFollower, type FollowOptions } from './follow-account.ts'
import type { SolanaNodes } from './nodes.ts'
import { attachedDataOf, isOwnTransfer, payerOf, type TreasuryAccount } from './read-transfer.ts'

/** Undefined for payouts, failed transactions and transfers between our own wallets. */
const transferOf = (
  { signature, transaction, change, at, block }: AccountTransaction,
  own: ReadonlySet<string>,
  isFinal: boolean,
): IncomingTransfer | undefined => {
  if (change.treasuryChange <= 0n || isOwnTransfer(change, own)) return undefined
  const payer = payerOf(change)
  return {
    reference: signature,
    index: 0,
    amount: usdc(change.treasuryChange),
    payer: payer.kind === 'one' ? payer.key : null,
    at,
    block,
    final: isFinal,
    attachedData: attachedDataOf(transaction),
  }
}

interface FollowerOptions extends FollowOptions {
  /** Whether a final block of one node makes a transfer final. Only final blocks are read. */
  readonly isFinal: boolean
}

/** Reads the transfers into the treasury. */
export const incomingTransfersFollower = (
  nodes: SolanaNodes,
  treasury: () => Promise<TreasuryAccount>,
  own: ReadonlySet<string>,
  { isFinal, ...options }: FollowerOptions,
) => {
  const follow = accountFollower(nodes, treasury, (entry) => transferOf(entry, own, isFinal), options)
  return async (
    from: string | undefined,
    limit: number,
  ): Promise<{ readonly transfers: readonly IncomingTransfer[]; readonly position: string }> => {
    const { items, position } = await follow(from, limit)
    return { transfers: items, position }
  }
}
