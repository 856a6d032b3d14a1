import type { WalletAsset } from '@market/core/ports/agent-wallets'
import type { Transfer } from './operation.ts'

interface Costs {
  /** Fees, and the rent of a token account that the transfer creates. */
  readonly cost: bigint
  readonly rentExempt: bigint
}

/** What is missing, in units of the asset. */
export interface Missing {
  readonly asset: WalletAsset
  readonly required: bigint
  readonly balance: bigint
}

/** What the wallet has. */
export interface Held {
  readonly lamports: bigint
  /** Of the asset that is sent; of SOL the lamports. */
  readonly units: bigint
}

/**
 * The amount of a transfer, or what the wallet lacks. What stays in the wallet must be nothing or the rent-exempt
 * minimum, because Solana rejects a transaction that leaves less. Everything is what the fee of this attempt leaves, whatever
 * an attempt that expired would have sent.
 */
export function amountToSend(
  { asset, amount: stored, isAll }: Pick<Transfer, 'asset' | 'amount' | 'isAll'>,
  { lamports, units }: Held,
  { cost, rentExempt }: Costs,
): { readonly amount: bigint } | { readonly missing: Missing } {
  // fix: all-of-each-attempt
  const amount = isAll ? null : stored
  if (asset !== 'SOL') {
    const wanted = amount ?? units
    if (wanted === 0n || wanted > units)
      return { missing: { asset, required: wanted === 0n ? 1n : wanted, balance: units } }
    const isPayable = lamports === cost || lamports >= cost + rentExempt
    if (isPayable) return { amount: wanted }
    return { missing: { asset: 'SOL', required: cost + rentExempt, balance: lamports } }
  }
  const all = lamports - cost
  if (amount === null)
    return all > 0n ? { amount: all } : { missing: { asset, required: cost + 1n, balance: lamports } }
  const rest = all - amount
  if (rest === 0n || rest >= rentExempt) return { amount }
  return { missing: { asset, required: amount + cost + rentExempt, balance: lamports } }
}
