import { z } from 'zod'
import type { ClaimNames } from '../identity/profile-claims.ts'
import { described } from './described.ts'
import { address, commonSettings, list, wholeNumber } from './environment.ts'
import { explorerSettings } from './explorers.ts'
import { chainSettings, money, treasurySettings } from './networks.ts'
import { storageSettings } from './storage.ts'
import { receiptKeys, walletSealPublicKey } from './vault.ts'

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

const port = (fallback: number) => wholeNumber(0, 65_535).default(fallback)

const PUBLIC_ADDRESSES = 'public addresses; they are in signed messages and CORS'
const LISTENS = 'where it listens'
const UPLOADS = 'what one caller may upload in a day in UTC'
const INTERNAL =
  'where it also serves `/readyz` with the reason, `/healthz` and `/metrics`. The public must not reach it'
const IDP = 'the identity provider. Its access tokens need `auth_time` for every write of an operator'
const IDP_CLIENT =
  'the client of the marketplace at the identity provider, by which users sign in on the pages and when they [connect a program](../contract/connections.md). Its redirect URI is `{APP_URL}/auth/callback`. Its access tokens must be for IDP_AUDIENCE. With refresh tokens a session lasts 30 days, otherwise as long as an access token. A client with a secret uses `client_secret_post`'
const ADMIN_CLAIM =
  'a claim that the access token of a listed operator must have: the value itself, or a list that contains it'
const SECURITY =
  '`mailto:` or `https:` addresses for reports of vulnerabilities, and until when they hold (`2027-01-01T00:00:00Z`, at most a year ahead). `/.well-known/security.txt` publishes them; without a contact it is 404'

/** What only the api reads. */
export const apiOnlySettings = {
  WALLET_SEAL_PUBLIC_KEY: walletSealPublicKey,
  RECEIPT_KEYS: receiptKeys,
  REDIS_URL: described(z.url(), 'rate limits; [encrypted](#encryption) with `rediss://`', { secret: true }),
  REDIS_PREFIX: described(
    z
      .string()
      .regex(/^[\w:-]{1,64}$/)
      .default('market'),
    'the first part of every key in Redis',
  ),
  BASE_URL: described(address, PUBLIC_ADDRESSES),
  APP_URL: described(address, PUBLIC_ADDRESSES),
  PAGES_URL: described(
    address.optional(),
    'the origin of the pages for people (`apps/web`), which is that of `APP_URL`: users sign in there. The guides link to them, and a browser that opens the `status_url` of a purchase gets its page',
    { default: 'none: the api has its own start page only' },
  ),
  HOST: described(z.string().default('127.0.0.1'), LISTENS),
  PORT: described(port(3000), LISTENS),
  FILES_URL: described(
    address.optional(),
    'the public address of uploaded files: another origin than `BASE_URL` and `APP_URL`, best another domain. Orders store it, so it does not change',
    { default: 'required with `S3_BUCKET`' },
  ),
  FILES_PORT: described(port(3002), 'where the api serves them, on `HOST`'),
  UPLOAD_FILES_PER_DAY: described(wholeNumber(1, 100_000).default(500), UPLOADS),
  UPLOAD_MB_PER_DAY: described(wholeNumber(1, 1_000_000).default(1_024), UPLOADS),
  UPLOAD_UNPAID_MB_PER_DAY: described(
    wholeNumber(1, 1_000_000).default(5),
    'the same for a caller without a paid order, instead of `UPLOAD_MB_PER_DAY`',
  ),
  UPLOADS_AT_ONCE: described(
    wholeNumber(1, 1_000).default(100),
    'files that a process receives at the same time; one part of 5 MB of each is in memory',
  ),
  INTERNAL_HOST: described(z.string().default('127.0.0.1'), INTERNAL),
  INTERNAL_PORT: described(wholeNumber(0, 65_535).optional(), INTERNAL),
  IDP_ISSUER: described(z.url(), IDP),
  IDP_AUDIENCE: described(z.string().min(1), IDP),
  IDP_TOKEN_TYPES: described(
    list.transform((types) => (types.length === 0 ? ['at+jwt'] : types)),
    'the `typ` headers of its access tokens. Set `jwt` for a provider that writes `JWT`, or nothing, into access tokens. Then set an audience that no ID token has',
    { default: '`at+jwt`' },
  ),
  IDP_CLAIMS: described(
    claimNames,
    'the claims of its userinfo, as `field=claim,field=claim`, where they have other names: `username=preferred_username,wallets=https://idp.example/wallets`. Fields: `username`, `name`, `picture`, `twitter_username`, `email`, `wallets`. Wallets and handles are trusted: name only claims that users cannot edit',
    { default: "each field's own name" },
  ),
  IDP_CLIENT_ID: described(z.string().min(1).optional(), IDP_CLIENT, {
    default: 'none: nobody signs in with a browser, and programs cannot be connected',
  }),
  IDP_CLIENT_SECRET: described(z.string().min(1).optional(), 'the secret of that client, if it has one', {
    secret: true,
  }),
  IDP_CLI_CLIENT_ID: described(
    z.string().min(1).optional(),
    'a public client with the device flow, for `market login`. `GET /api/config` publishes it',
    { default: 'none: `market login` needs `--client-id`' },
  ),
  IDP_SCOPES: described(
    list.transform((scopes) => (scopes.length === 0 ? ['openid', 'profile', 'email'] : scopes)),
    'what is asked for at a sign-in',
    { default: '`openid,profile,email`' },
  ),
  GENERATION_TIMEOUT_SECONDS: described(
    wholeNumber(10, 3_600).default(600),
    'how long an agent has to answer a request in a workspace. After that the request fails and its unit is returned to the quota',
  ),
  RESULT_WAIT_MS: described(
    wholeNumber(0, 12_000).default(12_000),
    'how long a request waits for a chain or the worker before the response is 202 or, for a transaction that no node knows, 402. At most 12 s, below the timeouts of common proxies. A withdrawal from Earn waits 10 s at most',
  ),
  /** At 0.10 the fee of 10 % is above what sending a payout costs. */
  MIN_PRICE_USDC: described(
    money('0.10'),
    'the lowest price of a service and of a quote. Cheaper services stay listed and cannot be ordered until they are repriced',
  ),
  REGISTRATION_FEE_USDC: described(money('1'), 'the price of a registration that is paid with the request'),
  X402_SHORT_WAIT_MAX_USDC: described(
    money('25'),
    'up to this amount the payout of a purchase by a bare transaction hash waits 24 h instead of 7 days, when the seller has completed orders of three payers',
  ),
  WALLET_MINIMUM_LAMPORTS: described(
    wholeNumber(0, 1_000_000_000_000).default(30_000_000),
    'what the [wallet of an agent](../contract/wallets.md) must hold at least before a launch or an identity mint',
  ),
  TOKEN_NAME_SUFFIX: described(
    z.string().trim().min(1).max(20).default('by Market'),
    'the last words of the name of every launched token, 1 to 20 characters',
  ),
  PRICES_URL: described(
    z
      .url({ protocol: /^https?$/ })
      .refine((url) => url.includes('{mints}'), 'must contain {mints}')
      .optional(),
    "where [prices of tokens](../contract/statistics.md#get-prices-of-tokens) are read by GET, with `{mints}` for mints separated by commas. The response is `{<mint>: {usd, usd_market_cap}}` with numbers, as CoinGecko's `simple/token_price` returns it; at most 1 MB within 2 s. At most 50 mints are in one request, and 8 requests under way. It may contain an API key. `npm run dev` has none",
    { secret: true, default: 'none: market data is 503' },
  ),
  PRICES_STALE_SECONDS: described(
    wholeNumber(30, 600).default(600),
    'how old a price may be while the source does not respond',
  ),
  SWAP_URL: described(
    address.optional(),
    "a venue of [swaps](../contract/swaps.md) from USDC to SOL with the requests of Jupiter's Ultra API: `GET {SWAP_URL}/order` within 5 s and `POST {SWAP_URL}/execute` within 10 s, at most 64 KB, no redirects. It must offer transactions that [one maker fills](../decisions/0020-swaps.md). Needs `SOLANA_RPC_URLS`",
    { default: 'none: swaps are 503' },
  ),
  SWAP_API_KEY: described(
    z
      .string()
      .regex(/^[\x21-\x7e]{1,500}$/)
      .optional(),
    'sent to it as `x-api-key`',
    { secret: true },
  ),
  ADMIN_USER_IDS: described(
    list,
    'identity-provider ids of operators. Two are needed for [what moves money elsewhere](money.md#two-operators)',
  ),
  ADMIN_CLAIM: described(z.string().min(1).default('roles'), ADMIN_CLAIM),
  ADMIN_CLAIM_VALUE: described(z.string().min(1).default('market-admin'), ADMIN_CLAIM),
  ADMIN_KEY_HASHES: described(keyHashes, '`name:<sha256 hex>` of `adm_…` keys, which can only read'),
  TRUSTED_PROXIES: described(
    list,
    'IP addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is trusted. Addresses in that header may have ports. Connections of these proxies are not limited',
  ),
  REQUESTS_PER_SECOND: described(
    wholeNumber(1, 100_000).default(100),
    'of one client address in one process, whatever is requested; counted over 10 seconds. Set `TRUSTED_PROXIES` behind a proxy: otherwise all clients share its address',
  ),
  CONNECTIONS_PER_ADDRESS: described(
    wholeNumber(1, 100_000).default(100),
    'open connections of one address in one process, except of trusted proxies',
  ),
  SHARED_READ_MS: described(
    wholeNumber(0, 1_000).default(1_000),
    'how long a process keeps a [public read that is the same for everybody](../contract/conventions.md#caching). 0 keeps none',
  ),
  DATABASE_POOL: described(wholeNumber(1, 100).default(10), 'connections'),
  SECURITY_CONTACT: described(
    list.pipe(
      z.array(z.string().regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, 'must be mailto: or https:')),
    ),
    SECURITY,
  ),
  SECURITY_TXT_EXPIRES: described(
    z.iso
      .datetime({ offset: true })
      .transform((text) => new Date(text))
      .optional(),
    SECURITY,
  ),
  DRAIN_MS: described(wholeNumber(0, 60_000).default(1_500), 'how long it continues to listen after SIGTERM'),
}

export const apiSettings = {
  ...commonSettings,
  ...chainSettings,
  ...treasurySettings,
  ...explorerSettings,
  ...storageSettings,
  ...apiOnlySettings,
}
