import { apiSettings } from './api.ts'
import { workerSettings } from './worker.ts'

/** Read by commands, by `npm run dev` and by the clients, which may share a shell with a program. */
const OTHER_SETTINGS = [
  ...[
    'API_ROLE_PASSWORD',
    'WORKER_ROLE_PASSWORD',
    'POSTGRES_URL',
    'MARKET_API_KEY',
    'MARKET_API_URL',
    'MARKET_TOKEN',
    'MARKET_WALLET_KEY',
    'MARKET_WEBHOOK_SECRET',
    'MARKET_VERSION',
  ],
  ...['ADMIN_CLIENT_ID', 'ADMIN_KEY', 'ADMIN_SCOPES'],
]

const KNOWN = [...new Set([...Object.keys(apiSettings), ...Object.keys(workerSettings)])]
const ALLOWED = new Set([...KNOWN, ...OTHER_SETTINGS])

/** No other program has variables with these first words. */
const OUR_PREFIX =
  /^(?:ACCESS_TOKEN|ADMIN|ALT|API_KEY|AUDIT|BASE|DATABASE|EARN|IDP|KMS|MARKET|OUTBOUND|PAYOUT|PRICES|REDIS|S3|SCREENING|SOLANA|SWAP|UPLOADS?|VAULT|WALLET|X402)_/

/** Variables of the system, of Node and npm, of cloud providers and of Postgres. */
const SYSTEM = /^(?:AWS|AZURE|GOOGLE|KUBERNETES|LC|NODE|NPM|OTEL|PG|SSL|SSH|UV|V8|XDG|npm)|^_/
/** What Kubernetes and Docker add for each service, such as `REDIS_SERVICE_HOST` and `REDIS_PORT=tcp://…`. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/

type ClosestName = (name: string, candidates: readonly string[]) => string | undefined

/**
 * Throws when the environment has a misspelled setting, because its default would apply without anybody knowing. Settings
 * of the other program are allowed: one environment may serve both.
 */
export function rejectUnknownSettings(env: NodeJS.ProcessEnv, closestName: ClosestName): void {
  const faults = Object.entries(env).flatMap(([name, value]) => {
    if (!value || ALLOWED.has(name) || isOfSystem(name, value)) return []
    const closest = closestName(name, KNOWN)
    if (closest === undefined && !OUR_PREFIX.test(name)) return []
    const next = closest === undefined ? 'Remove it.' : `Did you mean ${closest}?`
    return [`Unknown setting ${name}. ${next}`]
  })
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

const isOfSystem = (name: string, value: string): boolean =>
  SYSTEM.test(name) || SERVICE_LINK.test(name) || (name.endsWith('_PORT') && /^(?:tcp|udp):/.test(value))
