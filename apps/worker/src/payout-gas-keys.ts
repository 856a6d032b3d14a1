import { localEvmSigner } from '@market/chains/local-signers'
import type { EvmKeySigner } from '@market/core/ports/signer'
import type { EvmName } from '@market/platform/settings/venues'
import type { workerSettings } from '@market/platform/settings/worker'
import type { z } from 'zod'

type PayoutSenderConfig = z.infer<z.ZodObject<typeof workerSettings>>

const OTHER_KEYS = [
  ...(['SOLANA_TREASURY_KEY', 'BASE_TREASURY_KEY', 'ALT_TREASURY_KEY'] as const),
  ...(['SOLANA_GAS_KEY', 'BASE_GAS_KEY', 'ALT_GAS_KEY'] as const),
  ...(['BASE_VENUE_KEY', 'ALT_VENUE_KEY'] as const),
]
const OTHER_ADDRESSES = [
  ...(['BASE_TREASURY', 'BASE_GAS_ACCOUNT', 'BASE_VENUE_WALLET', 'BASE_COLD_ADDRESS'] as const),
  ...(['ALT_TREASURY', 'ALT_GAS_ACCOUNT', 'ALT_VENUE_WALLET', 'ALT_COLD_ADDRESS'] as const),
]

const signerOf = (key: Buffer): EvmKeySigner => localEvmSigner(`0x${key.toString('hex')}`)

export const payoutGasSigners = (config: PayoutSenderConfig, name: EvmName): readonly EvmKeySigner[] =>
  config[`${name}_PAYOUT_GAS_KEYS`].map(signerOf)

/** A nonce that two programs count, or that two transactions of a program have, would stop the payouts. */
export function checkPayoutGasKeys(
  config: PayoutSenderConfig,
  name: EvmName,
  addIssue: (path: string, message: string) => void,
): void {
  const setting = `${name}_PAYOUT_GAS_KEYS` as const
  const keys = config[setting]
  if (new Set(keys.map((key) => key.toString('hex'))).size < keys.length)
    addIssue(setting, 'has a key twice. Use a separate account for each.')
  const addresses = keys.map((key) => signerOf(key).address.toLowerCase())
  const others = [
    ...OTHER_KEYS.filter((other) => keys.some((key) => config[other]?.equals(key))),
    // An EVM key is the same account on every EVM network.
    ...OTHER_ADDRESSES.filter((other) => addresses.includes(config[other]?.toLowerCase() ?? '')),
  ]
  for (const other of others)
    addIssue(setting, `has the account of ${other}. Use accounts that only send payouts.`)
}
