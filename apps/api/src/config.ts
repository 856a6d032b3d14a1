import { localEvmSigner } from '@market/chains/local-signers'
import type { ClaimNames } from '@market/platform/identity/profile-claims'
import {
  type ChainConfig,
  chainSettings,
  checkChainSettings,
  money,
  treasurySettings,
} from '@market/platform/settings/chains'
import {
  address,
  commonSettings,
  list,
  readEnvironment,
  wholeNumber,
} from '@market/platform/settings/environment'
import { storageSettings } from '@market/platform/settings/storage'
import { walletSealPublicKey } from '@market/platform/settings/vault'
import { z } from 'zod'

/** `name:sha256,name:sha256` of admin keys. Only the hashes are stored. */
const keyHashes = list.transform((entries, ctx) =>
  entries.map((entry) => {
    const [name = '', hash = ''] = entry.split(':')
    if (!/^[a-z0-9-]{1,32}$/.test(name) || !/^[0-9a-f]{64}$/.test(hash)) {
      ctx.addIssue('must be a list of name:<sha256 in hex>')
      return z.NEVER
    }
    return { name, sha256: Buffer.from(hash, 'hex') }
  }),
)

/** The fields of a profile by the names that the contract uses for their usual claims. */
const CLAIMED_FIELDS: Readonly<Record<string, keyof ClaimNames>> = {
  username: 'username',
  name: 'displayName',
  picture: 'avatarUrl',
  twitter_username: 'twitterUsername',
  email: 'email',
  wallets: 'wallets',
}

/** `field=claim,field=claim`: the userinfo claims of a provider that names them differently. */
const claimNames = list.transform((entries, ctx): Partial<ClaimNames> => {
  const names = entries.map((entry) => {
    const [, field = '', claim = ''] = /^([a-z_]+)=([\x21-\x7e]{1,200})$/.exec(entry) ?? []
    return { field: Object.hasOwn(CLAIMED_FIELDS, field) ? CLAIMED_FIELDS[field] : undefined, claim }
  })
  const fields = names.flatMap(({ field }) => field ?? [])
  if (new Set(fields).size === names.length)
    return Object.fromEntries(names.map(({ field, claim }) => [field, claim]))
  ctx.addIssue(
    `must be a list of field=claim with each field once: ${Object.keys(CLAIMED_FIELDS).join(', ')}`,
  )
  return z.NEVER
})

const EVM = ['BASE', 'ALT'] as const

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

const Env = z
  .object({
    ...commonSettings,
    ...chainSettings,
    ...treasurySettings,
    ...storageSettings,
    WALLET_SEAL_PUBLIC_KEY: walletSealPublicKey,
    /** Price of registering an agent by an x402 payment. */
    REGISTRATION_FEE_USDC: money('1'),
    /** At 0.10 the fee of 10 % is above what sending a payout costs. */
    MIN_PRICE_USDC: money('0.10'),
    /** What the wallet of an agent must hold at least before it launches a token or mints its identity. */
    WALLET_MINIMUM_LAMPORTS: wholeNumber(0, 1_000_000_000_000).default(30_000_000),
    /** The last words of the name of every launched token. */
    TOKEN_NAME_SUFFIX: z.string().trim().min(1).max(20).default('by Market'),
    /** How long an agent has to answer a request in a workspace. */
    GENERATION_TIMEOUT_SECONDS: wholeNumber(10, 3_600).default(600),
    /** Up to this amount the payout of a trusted seller waits only a day when the payer is not proven. */
    X402_SHORT_WAIT_MAX_USDC: money('25'),
    /** Where prices of tokens are read, with `{mints}`. Without it there is no market data. */
    PRICES_URL: z
      .url({ protocol: /^https?$/ })
      .refine((url) => url.includes('{mints}'), 'must contain {mints}')
      .optional(),
    /** How old a price may be while the source does not respond. */
    PRICES_STALE_SECONDS: wholeNumber(30, 600).default(600),
    /** Offers swaps from USDC to SOL: `/order` and `/execute`. Without it there are none. */
    SWAP_URL: address.optional(),
    SWAP_API_KEY: z
      .string()
      .regex(/^[\x21-\x7e]{1,500}$/)
      .optional(),
    DATABASE_POOL: wholeNumber(1, 100).default(10),
    REDIS_URL: z.url(),
    REDIS_PREFIX: z
      .string()
      .regex(/^[\w:-]{1,64}$/)
      .default('market'),
    BASE_URL: address,
    APP_URL: address,
    HOST: z.string().default('127.0.0.1'),
    PORT: wholeNumber(0, 65_535).default(3000),
    /** The public address of uploaded files: another origin than those of the API and the app. Required with a bucket. */
    FILES_URL: address.optional(),
    FILES_PORT: wholeNumber(0, 65_535).default(3002),
    /** What one caller may upload in a day, in UTC. */
    UPLOAD_FILES_PER_DAY: wholeNumber(1, 100_000).default(500),
    UPLOAD_MB_PER_DAY: wholeNumber(1, 1_000_000).default(1_024),
    /** Files that this process receives at the same time. Each needs about 10 MB of memory. */
    UPLOADS_AT_ONCE: wholeNumber(1, 1_000).default(100),
    /** `/readyz` with its reason, `/healthz` and `/metrics` for operators; without a port they are not served there. */
    INTERNAL_HOST: z.string().default('127.0.0.1'),
    INTERNAL_PORT: wholeNumber(0, 65_535).optional(),
    IDP_ISSUER: z.url(),
    IDP_AUDIENCE: z.string().min(1),
    /** The `typ` of access tokens, in lower case. */
    IDP_TOKEN_TYPES: list.transform((types) => (types.length === 0 ? ['at+jwt'] : types)),
    IDP_CLAIMS: claimNames,
    /** The client at the identity provider that signs users in when they connect a program. Without it there is no OAuth. */
    IDP_CLIENT_ID: z.string().min(1).optional(),
    IDP_CLIENT_SECRET: z.string().min(1).optional(),
    IDP_SCOPES: list.transform((scopes) => (scopes.length === 0 ? ['openid', 'profile', 'email'] : scopes)),
    ADMIN_USER_IDS: list,
    /** An operator's access token also needs this claim, with this value or a list that contains it. */
    ADMIN_CLAIM: z.string().min(1).default('roles'),
    ADMIN_CLAIM_VALUE: z.string().min(1).default('market-admin'),
    ADMIN_KEY_HASHES: keyHashes,
    TRUSTED_PROXIES: list,
    /** Where vulnerabilities are reported, for /.well-known/security.txt. */
    SECURITY_CONTACT: list.pipe(
      z.array(z.string().regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, 'must be mailto: or https:')),
    ),
    SECURITY_TXT_EXPIRES: z.iso
      .datetime({ offset: true })
      .transform((text) => new Date(text))
      .optional(),
    /** Of one client address in one process, whatever is requested; counted over ten seconds. */
    REQUESTS_PER_SECOND: wholeNumber(1, 100_000).default(100),
    /** Of one address that is not a trusted proxy. */
    CONNECTIONS_PER_ADDRESS: wholeNumber(1, 100_000).default(100),
    DRAIN_MS: wholeNumber(0, 60_000).default(1_500),
  })
  .superRefine((config, ctx) => {
    checkChainSettings(config, (name) => config[`${name}_TREASURY`] !== undefined, ctx)
    checkFilesUrl(config, ctx)
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
  return readEnvironment(Env, env)
}
