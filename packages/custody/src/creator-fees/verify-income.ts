import type { Income, WalletReader } from '@market/core/ports/agent-wallets'
import { ApiError } from '@market/kernel/api-error'
import { requireReader, type WalletServices } from '../wallets/index.ts'

/** Why a transaction proves no income. `not_final` and `not_found` can change. */
const UNPROVEN: Readonly<Record<Exclude<Income['kind'], 'final'>, string>> = {
  not_found: 'is not a transaction on solana-mainnet that our nodes know. Check it, or try again in a minute',
  not_final: 'is not final yet. Try again in a minute',
  failed: 'failed on chain, so it paid nothing',
}

/** What the transaction did for the wallet. `field` is the field of the request that names the transaction. */
export async function requireIncome(
  ctx: Pick<WalletServices, 'wallets'>,
  field: 'source_tx' | 'settle_tx',
  query: Parameters<WalletReader['readIncome']>[0],
): Promise<Extract<Income, { kind: 'final' }>> {
  const income = await requireReader(ctx).readIncome(query)
  if (income.kind === 'final') return income
  throw notProven(field, UNPROVEN[income.kind])
}

export const notProven = (path: string, message: string): ApiError =>
  new ApiError('invalid', `${path} ${message}.`, {
    code: 'creator_fee_not_proven',
    details: [{ path, message }],
  })
