import { z } from 'zod'
import { type LocalVaultSettings, localVault } from '../vault/local-vault.ts'
import { parseReceiptKey } from '../vault/receipt-keys.ts'
import { parsePrivateKey, parsePublicKey, type SeedPublicKey } from '../vault/seed-keys.ts'
import { described } from './described.ts'

const MAX_LIVE_KEYS = 2
/** Entries of the audit log are verified with the key of their time, so former keys stay. */
const MAX_AUDIT_KEYS = 20
/** Receipts are verified with the key of their time. */
const MAX_RECEIPT_KEYS = 50

const split = (text: string): string[] => text.split(',').map((part) => part.trim())

/** `id:hex,id:hex`, the current key first. */
const vaultKeys = z.string().transform((text, ctx) =>
  split(text).map((entry) => {
    const [id = '', hex = ''] = entry.split(':')
    if (!/^[a-z0-9-]{1,32}$/.test(id) || !/^[0-9a-f]{64}$/.test(hex)) {
      ctx.addIssue('must be a list of id:<64 hex digits>')
      return z.NEVER
    }
    return { id, key: Buffer.from(hex, 'hex') }
  }),
)

/** `hex,hex`, the current key first. */
const hashKeys = (max: number) =>
  z.string().transform((text, ctx) => {
    const keys = split(text)
    if (keys.length > max || keys.some((hex) => !/^[0-9a-f]{64}$/.test(hex))) {
      ctx.addIssue(`must be a list of at most ${max} keys of 64 hex digits`)
      return z.NEVER
    }
    return keys.map((hex) => Buffer.from(hex, 'hex'))
  })

const SECRET = { secret: true } as const

/** Keys that the api and the worker share. */
export const vaultSettings = {
  VAULT_KEYS: described(vaultKeys, '`id:<64 hex>` list; the first key seals, every key opens', SECRET),
  API_KEY_HASH_KEYS: described(
    hashKeys(MAX_LIVE_KEYS),
    'one or two keys of 64 hex digits: the lookup hash of API keys. The first one makes hashes, both are accepted; see [change a key](running.md#change-a-key)',
    SECRET,
  ),
  X402_CLAIM_KEYS: described(hashKeys(MAX_LIVE_KEYS), 'the same for claims of x402 payments', SECRET),
  ACCESS_TOKEN_KEYS: described(hashKeys(MAX_LIVE_KEYS), 'the same for access tokens of x402 orders', SECRET),
  FILE_URL_KEYS: described(hashKeys(MAX_LIVE_KEYS), 'the same for links to files of private orders', SECRET),
  AUDIT_KEYS: described(
    hashKeys(MAX_AUDIT_KEYS),
    'the seals of the audit log: the first key seals, all verify. Keep former keys (at most 20 in total)',
    SECRET,
  ),
}

/** The api seals seeds with it and cannot open them. */
export const walletSealPublicKey = described(
  z.string().transform((text, ctx) => {
    const key = parsePublicKey(text.trim())
    if (key !== undefined) return key
    ctx.addIssue('must be public-<id>:<64 hex digits>, as `npm run keys:new` prints it')
    return z.NEVER
  }),
  '`public-<id>:<64 hex>`; the seeds of new wallets of agents are sealed to it. The api cannot open them, and does not start with a `WALLET_SEAL_PRIVATE_KEYS` in its environment',
)

/** Only the worker has them. The first one is current; the other opens what is not resealed yet. */
export const walletSealPrivateKeys = described(
  z.string().transform((text, ctx) => {
    const keys = split(text).flatMap((entry) => parsePrivateKey(entry) ?? [])
    const [current, ...others] = keys
    if (current !== undefined && keys.length === split(text).length && keys.length <= MAX_LIVE_KEYS)
      return [current, ...others] as const
    ctx.addIssue(
      `must be a list of at most ${MAX_LIVE_KEYS} keys private-<id>:<64 hex digits>, as \`npm run keys:new\` prints them`,
    )
    return z.NEVER
  }),
  '`private-<id>:<64 hex>`, one or two: the private half of `WALLET_SEAL_PUBLIC_KEY`. Its id must be the same. Keep a copy offline: without it the seeds are lost',
  SECRET,
)

/** Only the api has them. The first one signs receipts; the public halves of all are published. */
export const receiptKeys = described(
  z.string().transform((text, ctx) => {
    const keys = split(text).map(parseReceiptKey)
    const [current, ...others] = keys.flatMap((key) => key ?? [])
    const ids = new Set(keys.map((key) => key?.publicKey.kid))
    const isValid = !ids.has(undefined) && ids.size === keys.length && keys.length <= MAX_RECEIPT_KEYS
    if (isValid && current?.privateKey !== undefined)
      return [{ ...current, privateKey: current.privateKey }, ...others] as const
    ctx.addIssue(
      `must be a list of at most ${MAX_RECEIPT_KEYS} different keys, as \`npm run keys:new\` prints them: private-<id>:<64 hex digits> first, then others or their public halves`,
    )
    return z.NEVER
  }),
  '`private-<id>:<64 hex>`, then former keys or their public halves `public-<id>:<64 hex>`, at most 50 in all. The first one signs [receipts](../contract/orders.md#receipts), and `/.well-known/jwks.json` publishes all. Keep former keys: without them their receipts are not valid; see [change the key of receipts](running.md#change-the-key-of-receipts)',
  SECRET,
)

export interface VaultConfig {
  readonly VAULT_KEYS: LocalVaultSettings['keys']
  readonly API_KEY_HASH_KEYS: readonly Buffer[]
  readonly X402_CLAIM_KEYS: readonly Buffer[]
  readonly ACCESS_TOKEN_KEYS: readonly Buffer[]
  readonly FILE_URL_KEYS: readonly Buffer[]
  readonly AUDIT_KEYS: readonly Buffer[]
}

export const vaultFrom = (config: VaultConfig, seedKey: SeedPublicKey) =>
  localVault({
    keys: config.VAULT_KEYS,
    hashKeys: {
      api_key: config.API_KEY_HASH_KEYS,
      x402_claim: config.X402_CLAIM_KEYS,
      access_token: config.ACCESS_TOKEN_KEYS,
      file_url: config.FILE_URL_KEYS,
      audit: config.AUDIT_KEYS,
    },
    seedKey,
  })

const ApiVault = z.object({ ...vaultSettings, WALLET_SEAL_PUBLIC_KEY: walletSealPublicKey })

/** The vault of the api, from its settings as text. */
export function vaultOf(settings: z.input<typeof ApiVault>) {
  const config = ApiVault.parse(settings)
  return vaultFrom(config, config.WALLET_SEAL_PUBLIC_KEY)
}
