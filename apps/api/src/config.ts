import { localEvmSigner } from '@market/chains/local-signers'
import { type ChainConfig, chainSettings, checkChainSettings, money } from '@market/platform/settings/chains'
import {
  address,
  commonSettings,
  list,
  readEnvironment,
  wholeNumber,
} from '@market/platform/settings/environment'
import { z } from 'zod'

/** `name:sha256,name:sha256` of operators' keys; the keys themselves are nowhere. */
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

const EVM = ['BASE', 'ALT'] as const

/** Whatever account is named beside it, and before any node is asked: on EVM a key is one account on all networks. */
function isTreasuryKey(config: ChainConfig, key: Buffer | undefined): boolean {
  if (key === undefined) return false
  const own = localEvmSigner(`0x${key.toString('hex')}`).address.toLowerCase()
  return EVM.some((name) => config[`${name}_TREASURY`]?.toLowerCase() === own)
}

const Env = z
  .object({
    ...commonSettings,
    ...chainSettings,
    /** What registering an agent costs who pays for it with the request. */
    REGISTRATION_FEE_USDC: money('1'),
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
    IDP_ISSUER: z.url(),
    IDP_AUDIENCE: z.string().min(1),
    ADMIN_USER_IDS: list,
    ADMIN_KEY_HASHES: keyHashes,
    TRUSTED_PROXIES: list,
    DRAIN_MS: wholeNumber(0, 60_000).default(1_500),
  })
  .superRefine((config, ctx) => {
    checkChainSettings(config, (name) => config[`${name}_TREASURY`] !== undefined, ctx)
    for (const name of EVM.filter((one) => isTreasuryKey(config, config[`${one}_GAS_KEY`])))
      ctx.addIssue({ code: 'custom', path: [`${name}_GAS_KEY`], message: 'is the key of a treasury' })
  })

export type Config = Readonly<z.infer<typeof Env>>

/** Keys that move a treasury's money, or name one in a KMS. */
const TREASURY_KEY = /_TREASURY_(?:KMS_)?KEY/

/** Whoever takes the api over must find nothing that moves a treasury's money: not even a key that it does not use. */
function rejectTreasuryKeys(env: NodeJS.ProcessEnv): void {
  const held = Object.keys(env).filter((name) => TREASURY_KEY.test(name) && env[name])
  if (held.length > 0)
    throw new Error(
      `Not in the api: ${held.join(', ')}. These keys are the worker's alone: take them out of the api's environment, and tell it the treasury's address instead (<NETWORK>_TREASURY).`,
    )
}

/** The only reader of the environment. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  rejectTreasuryKeys(env)
  return readEnvironment(Env, env)
}
