import {
  type ChainName,
  chainSettings,
  checkChainSettings,
  feeAddressSettings,
  hotMaxSettings,
  money,
} from '@market/platform/settings/chains'
import { secretHex, wholeNumber } from '@market/platform/settings/environment'
import { type EvmName, marketsOn } from '@market/platform/settings/venues'
import { z } from 'zod'

const kmsKey = z.string().min(1).max(2048).optional()

/** Treasury keys and payout limits. The worker pays out only on networks that have a treasury key. */
export const payoutSenderSettings = {
  ...chainSettings,
  ...feeAddressSettings,
  ...hotMaxSettings,
  SOLANA_TREASURY_KEY: secretHex,
  SOLANA_TREASURY_KMS_KEY: kmsKey,
  /** Highest cost of a payout in lamports: fees, and 2,039,280 for rent when the payee's token account is new. */
  SOLANA_COST_CAP: wholeNumber(5_000, 1_000_000_000).default(5_000_000),
  /** Lamports for fees and rent in 24 hours. */
  SOLANA_GAS_BUDGET: wholeNumber(5_000, 1_000_000_000_000).default(500_000_000),
  /** Waiting earnings from which the treasury pays the rent of an agent's token account, once. */
  SOLANA_ACCOUNT_MINIMUM_USDC: money('5'),

  BASE_TREASURY_KEY: secretHex,
  BASE_TREASURY_KMS_KEY: kmsKey,
  /** Coin for the fees of payouts in 24 hours, in gwei. */
  BASE_GAS_BUDGET_GWEI: wholeNumber(1, 1_000_000_000_000_000).default(50_000_000),

  ALT_TREASURY_KEY: secretHex,
  ALT_TREASURY_KMS_KEY: kmsKey,
  ALT_GAS_BUDGET_GWEI: wholeNumber(1, 1_000_000_000_000_000).default(50_000_000),

  /** The keys of the wallets that hold the shares of vaults. */
  BASE_VENUE_KEY: secretHex,
  BASE_VENUE_KMS_KEY: kmsKey,
  ALT_VENUE_KEY: secretHex,
  ALT_VENUE_KMS_KEY: kmsKey,

  /** A file with one address per line. Payouts to them, or of money from them, are held. */
  SCREENING_FILE: z.string().min(1).optional(),
  /** A service that says which addresses are listed. */
  SCREENING_URL: z.url().optional(),
  SCREENING_TOKEN: z.string().min(1).optional(),

  KMS_REGION: z.string().min(1).optional(),
  KMS_ENDPOINT: z.url().optional(),

  PAYOUT_CAP_USDC: money('1000'),
  PAYOUT_PAYEE_DAY_CAP_USDC: money('2500'),
  PAYOUT_DAY_CAP_USDC: money('10000'),

  /** The most that the server wallet of one agent may send in 24 hours. */
  WALLET_DAY_CAP_LAMPORTS: wholeNumber(0, 1_000_000_000_000_000).default(10_000_000_000),
  WALLET_DAY_CAP_USDC: money('2500'),
}

type PayoutSenderConfig = z.infer<z.ZodObject<typeof payoutSenderSettings>>

export const hasKey = (
  config: Pick<PayoutSenderConfig, `${ChainName}_TREASURY_KEY` | `${ChainName}_TREASURY_KMS_KEY`>,
  name: ChainName,
): boolean => config[`${name}_TREASURY_KEY`] !== undefined || config[`${name}_TREASURY_KMS_KEY`] !== undefined

const EVM: readonly EvmName[] = ['BASE', 'ALT']
const KEYS = ['SOLANA_TREASURY', 'BASE_TREASURY', 'ALT_TREASURY', 'BASE_VENUE', 'ALT_VENUE'] as const

/** Checks settings that depend on each other. Each issue names the setting that is missing or redundant. */
export function checkPayoutSenderSettings(config: PayoutSenderConfig, ctx: z.RefinementCtx): void {
  const addIssue = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message })
  for (const name of KEYS) {
    const isLocal = config[`${name}_KEY`] !== undefined
    const isKms = config[`${name}_KMS_KEY`] !== undefined
    if (isLocal && isKms) addIssue(`${name}_KEY`, 'is set together with the KMS key. Set one of them.')
    if (isKms && config.KMS_REGION === undefined) addIssue('KMS_REGION', 'is required with a KMS key')
  }
  for (const name of EVM) {
    const venueKey = config[`${name}_VENUE_KEY`] ?? config[`${name}_VENUE_KMS_KEY`]
    if (venueKey === undefined && hasKey(config, name) && marketsOn(config, name).length > 0)
      addIssue(`${name}_VENUE_KEY`, 'is needed for the EARN_MARKETS of this network')
    if (isKeyOfOther(config, name))
      addIssue(`${name}_VENUE_KEY`, 'is the key of a treasury or of a gas account. Use a separate wallet.')
  }
  checkChainSettings(config, (name) => hasKey(config, name), ctx)
}

/** An EVM key is the same account on every EVM network. */
function isKeyOfOther(config: PayoutSenderConfig, name: EvmName): boolean {
  const [key, kmsKeyId] = [config[`${name}_VENUE_KEY`], config[`${name}_VENUE_KMS_KEY`]]
  return EVM.some((other) => {
    const others = [config[`${other}_TREASURY_KEY`], config[`${other}_GAS_KEY`]]
    const isSameKey = key !== undefined && others.some((one) => one?.equals(key))
    return isSameKey || (kmsKeyId !== undefined && kmsKeyId === config[`${other}_TREASURY_KMS_KEY`])
  })
}
