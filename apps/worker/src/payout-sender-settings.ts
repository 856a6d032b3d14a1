import { type ChainName, checkChainSettings } from '@market/platform/settings/chains'
import { type EvmName, marketsOn } from '@market/platform/settings/venues'
import type { workerSettings } from '@market/platform/settings/worker'
import type { z } from 'zod'
import { checkPayoutGasKeys } from './payout-gas-keys.ts'

type PayoutSenderConfig = z.infer<z.ZodObject<typeof workerSettings>>

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
    if (hasKey(config, name) && config[`${name}_PAYOUT_GAS_KEYS`].length === 0)
      addIssue(`${name}_PAYOUT_GAS_KEYS`, 'is needed with the treasury key: these accounts send the payouts')
    checkPayoutGasKeys(config, name, addIssue)
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
