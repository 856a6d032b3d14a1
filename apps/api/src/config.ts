import { chainSettings, checkChainSettings, money } from '@market/platform/settings/chains'
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
  })

export type Config = Readonly<z.infer<typeof Env>>

/** The only reader of the environment. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => readEnvironment(Env, env)
