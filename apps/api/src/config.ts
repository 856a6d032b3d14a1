import { localEvmSigner } from '@market/chains/local-signers'
import { closestName } from '@market/contract/closest-name'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { splitPrice } from '@market/money/ledger'
import { apiSettings } from '@market/platform/settings/api'
import { type ChainConfig, checkChainSettings } from '@market/platform/settings/chains'
import { readEnvironment } from '@market/platform/settings/environment'
import { rejectUnknownSettings } from '@market/platform/settings/unknown'
import { z } from 'zod'

const EVM = ['BASE', 'ALT'] as const

const NETWORKS = ['SOLANA', ...EVM] as const

/** Of the cheapest order the seller gets at least what is sent, so that no payout of an order waits for a larger one. */
function checkMinPrice(config: ChainConfig & { readonly MIN_PRICE_USDC: Usdc }, ctx: z.RefinementCtx): void {
  const { agent } = splitPrice(config.MIN_PRICE_USDC)
  for (const name of NETWORKS) {
    const minimum = config[`${name}_MIN_PAYOUT_USDC`]
    // fix: seller-share-is-paid
    if (config[`${name}_TREASURY`] !== undefined && agent < minimum)
      ctx.addIssue({
        code: 'custom',
        path: ['MIN_PRICE_USDC'],
        message: `is too low: the seller would get ${formatUsd(agent)} USDC, and ${name}_MIN_PAYOUT_USDC is ${formatUsd(minimum)}. Raise the price or lower the minimum`,
      })
  }
}

/** Compared with the treasuries and venue wallets of all EVM networks, because a key has the same address on each of them. */
function isKeyOfMoney(config: ChainConfig, key: Buffer | undefined): boolean {
  if (key === undefined) return false
  const own = localEvmSigner(`0x${key.toString('hex')}`).address.toLowerCase()
  return EVM.some(
    (name) => config[`${name}_TREASURY`]?.toLowerCase() === own || config[`${name}_VENUE_WALLET`] === own,
  )
}

interface Origins {
  readonly S3_BUCKET?: string | undefined
  readonly FILES_URL?: string | undefined
  readonly BASE_URL: string
  readonly APP_URL: string
}

/** A file on the origin of the app could act as its user. */
function checkFilesUrl({ S3_BUCKET, FILES_URL, BASE_URL, APP_URL }: Origins, ctx: z.RefinementCtx): void {
  const addIssue = (message: string) => ctx.addIssue({ code: 'custom', path: ['FILES_URL'], message })
  if (S3_BUCKET !== undefined && FILES_URL === undefined) addIssue('is required with S3_BUCKET')
  const originOf = (url: string) => new URL(url).origin
  if (FILES_URL !== undefined && [BASE_URL, APP_URL].map(originOf).includes(originOf(FILES_URL)))
    addIssue('must be another origin than BASE_URL and APP_URL')
}

/** Users sign in at APP_URL and return to the page that they came from, with a cookie of that origin. */
function checkPagesUrl(
  { PAGES_URL, APP_URL }: { readonly PAGES_URL?: string | undefined; readonly APP_URL: string },
  ctx: z.RefinementCtx,
): void {
  const { origin } = new URL(APP_URL)
  // fix: one-origin
  if (PAGES_URL !== undefined && new URL(PAGES_URL).origin !== origin)
    ctx.addIssue({
      code: 'custom',
      path: ['PAGES_URL'],
      message: `is another origin than APP_URL, ${origin}. Set APP_URL to the origin of the pages too, where a proxy sends the paths of the API to the api`,
    })
}

const Env = z.object(apiSettings).superRefine((config, ctx) => {
  checkChainSettings(config, (name) => config[`${name}_TREASURY`] !== undefined, ctx)
  checkMinPrice(config, ctx)
  checkFilesUrl(config, ctx)
  checkPagesUrl(config, ctx)
  if (config.SWAP_URL !== undefined && config.SOLANA_RPC_URLS.length === 0)
    ctx.addIssue({ code: 'custom', path: ['SOLANA_RPC_URLS'], message: 'is required with SWAP_URL' })
  if (config.SECURITY_CONTACT.length > 0 && config.SECURITY_TXT_EXPIRES === undefined)
    ctx.addIssue({ code: 'custom', path: ['SECURITY_TXT_EXPIRES'], message: 'is required with a contact' })
  for (const name of EVM.filter((one) => isKeyOfMoney(config, config[`${one}_GAS_KEY`])))
    ctx.addIssue({
      code: 'custom',
      path: [`${name}_GAS_KEY`],
      message: 'is the key of a treasury or of a venue wallet. Use a separate gas account.',
    })
})

export type Config = Readonly<z.infer<typeof Env>>

/** Names of settings that contain a treasury key or the id of one in a KMS. */
const TREASURY_KEY = /_TREASURY_(?:KMS_)?KEY/
const VENUE_KEY = /_VENUE_(?:KMS_)?KEY/
const PAYOUT_GAS_KEYS = /_PAYOUT_GAS_KEY/
const WALLET_SEAL_PRIVATE_KEY = /^WALLET_SEAL_PRIVATE_KEY/

/** An attacker who controls the api must not find a key that moves money, so it does not start with one, even if unused. */
function rejectKeysOfWorker(env: NodeJS.ProcessEnv): void {
  const found = (names: RegExp) => Object.keys(env).filter((name) => names.test(name) && env[name])
  const treasury = found(TREASURY_KEY)
  if (treasury.length > 0)
    throw new Error(
      `Treasury keys must not be set for the api: ${treasury.join(', ')}. Only the worker needs them. Remove them from the api's environment and set the treasury's address instead (<NETWORK>_TREASURY).`,
    )
  const venues = found(VENUE_KEY)
  if (venues.length > 0)
    throw new Error(
      `Keys of venue wallets must not be set for the api: ${venues.join(', ')}. Only the worker needs them. Remove them from the api's environment and set the wallet's address instead (<NETWORK>_VENUE_WALLET).`,
    )
  const gas = found(PAYOUT_GAS_KEYS)
  if (gas.length > 0)
    throw new Error(
      `Keys of the accounts that send payouts must not be set for the api: ${gas.join(', ')}. Only the worker needs them. Remove them from the api's environment.`,
    )
  const seal = found(WALLET_SEAL_PRIVATE_KEY)
  if (seal.length > 0)
    throw new Error(
      `The private key of wallet seeds must not be set for the api: ${seal.join(', ')}. Only the worker needs it. Remove it from the api's environment and set WALLET_SEAL_PUBLIC_KEY instead.`,
    )
}

/** Undefined without a contact: then there is no security.txt. */
export function securityContactOf({ SECURITY_CONTACT: contacts, SECURITY_TXT_EXPIRES: expires }: Config) {
  return contacts.length === 0 || expires === undefined ? undefined : { contacts, expires }
}

/** Reads the environment of the program. Commands read their own. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  rejectKeysOfWorker(env)
  rejectUnknownSettings(env, closestName)
  return readEnvironment(Env, env)
}
