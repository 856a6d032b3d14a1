import { createHash } from 'node:crypto'
import type { Network } from './network.ts'

/**
 * Whether the chain itself refuses to pay a mark twice: EVM, where it is the nonce of an authorization. Whoever submits the
 * authorization, in whichever transaction, pays that payout.
 */
export const paysMarkOnce = (network: Network): boolean => network !== 'solana-mainnet'

interface Marked {
  readonly id: string
  /** Which nonce it has on EVM. The next one begins only when the chain has used the nonce for something else. */
  readonly markRound: number
}

/** What names a payout on its chain: its id in the memo on Solana, the nonce of its authorizations on EVM. As `payouts.mark`. */
export function markOf(network: Network, { id, markRound }: Marked): string {
  if (!paysMarkOnce(network)) return id
  const text = markRound === 1 ? id : `${id}:${markRound}`
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

/** All marks that it ever had, on every network: a payout can be tried again on another one. */
export const marksOf = ({ id, markRound }: Marked): string[] => [
  markOf('solana-mainnet', { id, markRound }),
  ...Array.from({ length: markRound }, (_, n) => markOf('base-mainnet', { id, markRound: n + 1 })),
]
