import type { Screening } from '@market/core/ports/screening'
import type { PayoutContext } from '@market/money/payouts'
import { fileScreening } from '@market/platform/screening/file-screening'
import { httpScreening } from '@market/platform/screening/http-screening'
import type { Config } from './config.ts'

const WEI_PER_GWEI = 1_000_000_000n

/** The limits of payouts, in the form that the payouts module takes them. */
export const capsFrom = (config: Config): PayoutContext['caps'] => ({
  perPayout: config.PAYOUT_CAP_USDC,
  perPayee: config.PAYOUT_PAYEE_DAY_CAP_USDC,
  perDay: config.PAYOUT_DAY_CAP_USDC,
  accountMinimum: config.SOLANA_ACCOUNT_MINIMUM_USDC,
  gasBudget: {
    'solana-mainnet': BigInt(config.SOLANA_GAS_BUDGET),
    'base-mainnet': BigInt(config.BASE_GAS_BUDGET_GWEI) * WEI_PER_GWEI,
    'alt-mainnet': BigInt(config.ALT_GAS_BUDGET_GWEI) * WEI_PER_GWEI,
  },
  cost: { 'solana-mainnet': BigInt(config.SOLANA_COST_CAP) },
})

const SCREENING_TIMEOUT_MS = 5_000

/** The lists of addresses that are not dealt with. */
export function screeningsFrom(config: Config): readonly Screening[] {
  const { SCREENING_FILE: file, SCREENING_URL: url, SCREENING_TOKEN: token } = config
  const timeoutMs = SCREENING_TIMEOUT_MS * config.TIMEOUT_FACTOR
  return [
    ...(file === undefined ? [] : [fileScreening(file)]),
    ...(url === undefined ? [] : [httpScreening({ url, token, timeoutMs })]),
  ]
}
