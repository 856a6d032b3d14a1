import { isDevelopment, unencryptedUrls } from '@market/kernel/encrypted-url'
import { z } from 'zod'
import { vaultSettings } from './vault.ts'

/** Environment variables that several processes read. An invalid value is rejected with the name of the variable. */

export const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )

/** A private key in hex, with or without 0x. */
export const secretHex = z
  .string()
  .regex(/^(0x)?[0-9a-f]{64}$/i, 'must be 32 bytes in hex')
  .transform((text) => Buffer.from(text.replace(/^0x/i, ''), 'hex'))
  .optional()

export const address = z.url().transform((url) => url.replace(/\/$/, ''))

export const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

const onOrOff = z.enum(['on', 'off']).transform((text) => text === 'on')

/** A file with the moves of the clock; `clockFromFile` describes it. */
export const clockFile = z.string().optional()

/** Lets one provider decide what is final. Networks need two otherwise. */
export const oneProvider = onOrOff.default(false)

/** Multiplies the timeouts of the database, of nodes, of the identity provider and of the price source, for slow machines. */
export const timeoutFactor = wholeNumber(1, 60).default(1)

/** Settings for development. A program does not start with any of them unless MARKET_ENV is `development`. */
const developmentSettings = {
  CLOCK_FILE: clockFile,
  /** Maximum interval of sweeps, so that a test does not wait for the interval of production. */
  SWEEP_INTERVAL_MS: wholeNumber(50, 60_000).optional(),
  ONE_PROVIDER: oneProvider,
  TIMEOUT_FACTOR: timeoutFactor,
  /** `public address=host:port`: where requests to a checked address are sent. */
  OUTBOUND_REROUTE: list,
  /** A JSON file of agent ids and URLs on this machine, to which their webhooks are sent. */
  OUTBOUND_FORWARD_FILE: z.string().optional(),
  /** Additional trusted certificates, as a PEM file. */
  OUTBOUND_CA_FILE: z.string().optional(),
}

/** Settings that every process reads. */
export const commonSettings = {
  MARKET_ENV: z.enum(['production', 'development']).default('production'),
  DATABASE_URL: z.url(),
  /** Off behind a pooler that does not support prepared statements. */
  DATABASE_PREPARED_STATEMENTS: onOrOff.default(true),
  /** Off when BEGIN must complete before the next statement is sent. */
  DATABASE_PIPELINE: onOrOff.default(true),
  ...vaultSettings,
  DNS_SERVERS: list,
  METRICS_READERS: list.transform((readers) => (readers.length === 0 ? ['127.0.0.1', '::1'] : readers)),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
  TRACES_ENDPOINT: z.url().optional(),
  CELL: z
    .string()
    .regex(/^[0-9a-z]$/)
    .default('0'),
  ...developmentSettings,
}

/** Throws at start and names each invalid setting. */
export function readEnvironment<T extends z.ZodType>(schema: T, env: NodeJS.ProcessEnv): z.output<T> {
  const parsed = schema.safeParse(env)
  const wrong = parsed.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? []
  const faults = [...developmentFaults(env), ...unencryptedUrls(env), ...wrong]
  if (parsed.success && faults.length === 0) return parsed.data
  throw new Error(`The configuration is not complete:\n  ${faults.join('\n  ')}`)
}

/** Production is the default, so that a forgotten setting makes a program stricter and never weaker. */
function developmentFaults(env: NodeJS.ProcessEnv): string[] {
  if (isDevelopment(env)) return []
  const found = Object.keys(developmentSettings).filter((name) => env[name])
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') found.push('NODE_TLS_REJECT_UNAUTHORIZED')
  return found.map((name) => `${name}: is accepted only with MARKET_ENV=development`)
}
