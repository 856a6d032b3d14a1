import { type ChainName, chainSettings, checkChainSettings, money } from '@market/platform/settings/chains'
import { secretHex, wholeNumber } from '@market/platform/settings/environment'
import { z } from 'zod'

const kmsKey = z.string().min(1).max(2048).optional()

/** What the worker pays with. A network without a treasury key is not paid on. */
export const railSettings = {
  ...chainSettings,
  SOLANA_TREASURY_KEY: secretHex,
  SOLANA_TREASURY_KMS_KEY: kmsKey,
  /** Fees and a fresh account's rent, in lamports: the rent alone is 2 039 280. */
  SOLANA_COST_CAP: wholeNumber(5_000, 1_000_000_000).default(5_000_000),

  BASE_TREASURY_KEY: secretHex,
  BASE_TREASURY_KMS_KEY: kmsKey,

  ALT_TREASURY_KEY: secretHex,
  ALT_TREASURY_KMS_KEY: kmsKey,

  KMS_REGION: z.string().min(1).optional(),
  KMS_ENDPOINT: z.url().optional(),

  PAYOUT_CAP_USDC: money('1000'),
  PAYOUT_DAY_CAP_USDC: money('10000'),
}

type PayoutSenderConfig = z.infer<z.ZodObject<typeof railSettings>>

export const hasKey = (
  config: Pick<PayoutSenderConfig, `${ChainName}_TREASURY_KEY` | `${ChainName}_TREASURY_KMS_KEY`>,
  name: ChainName,
): boolean => config[`${name}_TREASURY_KEY`] !== undefined || config[`${name}_TREASURY_KMS_KEY`] !== undefined

/** Settings that only make sense together: each fault names the setting that is missing or too many. */
export function checkPayoutSenderSettings(config: PayoutSenderConfig, ctx: z.RefinementCtx): void {
  const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message })
  for (const name of ['SOLANA', 'BASE', 'ALT'] as const) {
    const isLocal = config[`${name}_TREASURY_KEY`] !== undefined
    const isKms = config[`${name}_TREASURY_KMS_KEY`] !== undefined
    if (isLocal && isKms) fault(`${name}_TREASURY_KEY`, 'is one of two keys: give one')
    if (isKms && config.KMS_REGION === undefined) fault('KMS_REGION', 'is needed for a KMS key')
  }
  checkChainSettings(config, (name) => hasKey(config, name), ctx)
}
