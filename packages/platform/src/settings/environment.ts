import { isDevelopment, unencryptedUrls } from '@market/kernel/encrypted-url'
import { z } from 'zod'
import { described } from './described.ts'
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
const privateKey = z
  .string()
  // Without a key there is nothing that other settings can be compared with.
  .regex(/^(0x)?[0-9a-f]{64}$/i, { error: 'must be 32 bytes in hex', abort: true })
  .transform((text) => Buffer.from(text.replace(/^0x/i, ''), 'hex'))

export const secretHex = privateKey.optional()

export const secretHexList = list.pipe(z.array(privateKey))

export const address = z.url().transform((url) => url.replace(/\/$/, ''))

export const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

export const onOrOff = z.enum(['on', 'off']).transform((text) => text === 'on')

/** A file with the moves of the clock; `clockFromFile` describes it. */
export const clockFile = described(
  z.string().optional(),
  'a file with the milliseconds by which the clock is moved',
)

export const oneProvider = described(
  onOrOff.default(false),
  '`on`: one provider decides what is final. Without it a network with one provider stops the start',
)

export const timeoutFactor = described(
  wholeNumber(1, 60).default(1),
  'multiplies the timeouts of the database, of nodes, of the identity provider, of the price source, of the swap venue and of the storage of files, for slow machines',
)

const OUTBOUND = 'where webhooks are sent, and which certificates they trust'

/** A program does not start with any of them unless MARKET_ENV is `development`. */
export const developmentSettings = {
  TIMEOUT_FACTOR: timeoutFactor,
  ONE_PROVIDER: oneProvider,
  CLOCK_FILE: clockFile,
  SWEEP_INTERVAL_MS: described(wholeNumber(50, 60_000).optional(), 'the longest interval of sweeps'),
  /** `public address=host:port`: where requests to a checked address are sent. */
  OUTBOUND_REROUTE: described(list, OUTBOUND),
  /** A JSON file of agent ids and URLs on this machine, to which their webhooks are sent. */
  OUTBOUND_FORWARD_FILE: described(z.string().optional(), OUTBOUND),
  LIMITS_RESET_URL: described(
    z.url().optional(),
    'a URL that every 429 names: a POST to it allows more requests',
  ),
  /** Additional trusted certificates, as a PEM file. */
  OUTBOUND_CA_FILE: described(z.string().optional(), OUTBOUND),
}

/** Settings that every process reads. */
export const commonSettings = {
  MARKET_ENV: described(
    z.enum(['production', 'development']).default('production'),
    '`development` allows the [development settings](#development-settings) and connections without TLS',
  ),
  DATABASE_URL: described(
    z.url(),
    'PostgreSQL 15 or newer, as `market_api` or `market_worker` ([roles](running.md#database-roles)). [Encrypted](#encryption) with `sslmode=verify-full`',
    { secret: true },
  ),
  DATABASE_PREPARED_STATEMENTS: described(
    onOrOff.default(true),
    '`off` behind a pooler in transaction mode that does not support them (PgBouncer before 1.21, or without `max_prepared_statements`). A program that loses a prepared statement anyway logs a warning and prepares none from then on',
  ),
  DATABASE_PIPELINE: described(
    onOrOff.default(true),
    '`off` waits for BEGIN before the first read of a transaction is sent',
  ),
  ...vaultSettings,
  DNS_SERVERS: described(list, 'DNS servers for host names that users set; use a public resolver', {
    default: "the system's",
  }),
  METRICS_READERS: described(
    list.transform((readers) => (readers.length === 0 ? ['127.0.0.1', '::1'] : readers)),
    'addresses and networks that may read `/metrics`',
    { default: '`127.0.0.1,::1`' },
  ),
  LOG_LEVEL: described(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
    '`fatal` … `debug`, `silent`',
  ),
  TRACES_ENDPOINT: described(z.url().optional(), 'OTLP over HTTP; traces are off without it'),
  CELL: described(
    z
      .string()
      .regex(/^[0-9a-z]$/)
      .default('0'),
    'one base36 character in every new id',
  ),
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
  // fix: production-by-default
  if (isDevelopment(env)) return []
  const found = Object.keys(developmentSettings).filter((name) => env[name])
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') found.push('NODE_TLS_REJECT_UNAUTHORIZED')
  return found.map((name) => `${name}: is accepted only with MARKET_ENV=development`)
}
