import { parseArgs } from 'node:util'

export interface Settings {
  /** One line of JSON instead of the table. */
  readonly json: boolean
  readonly verbose: boolean
  /** Serve the pages from their sources, with reload. */
  readonly web: boolean
  /** Start new PostgreSQL and Redis servers even when some are running. */
  readonly ownServers: boolean
  /** Start local chains with a USDC contract. */
  readonly chains: boolean
  /** Start the local Solana chain too. */
  readonly solana: boolean
  /** The port of the API and the pages; by default 4000, or a free one where it is taken. */
  readonly port?: number
  readonly postgresUrl?: string
  readonly redisUrl?: string
}

export const USAGE =
  'npm run dev -- [--web] [--json] [--verbose] [--own-servers] [--no-solana] [--no-chains] [--port <port of the api>]'

export const HELP = `${USAGE}

Starts the marketplace on this machine, with local chains, PostgreSQL, Redis and an identity provider.

  --web           serve the pages from their sources, with reload; otherwise the last build
  --json          print the addresses as one line of JSON
  --verbose       print the logs of every part on stderr
  --own-servers   start new PostgreSQL and Redis servers even when some are running
  --no-solana     start without the local Solana chain
  --no-chains     start without chains
  --port <port>   the port of the API and the pages; 4000 unless given, or a free one where it is taken

POSTGRES_URL and REDIS_URL name servers to use. Ctrl-C stops everything and removes its data.
`

/** Throws an error with a readable message for wrong arguments. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      web: { type: 'boolean', default: false },
      port: { type: 'string' },
      'own-servers': { type: 'boolean', default: false },
      'no-solana': { type: 'boolean', default: false },
      'no-chains': { type: 'boolean', default: false },
    },
  })
  const port = portOf(values.port)
  const postgresUrl = env['POSTGRES_URL']
  const redisUrl = env['REDIS_URL']
  return {
    json: values.json,
    verbose: values.verbose,
    web: values.web,
    ownServers: values['own-servers'],
    chains: !values['no-chains'],
    solana: !values['no-solana'],
    ...(port !== 0 && { port }),
    ...(postgresUrl && { postgresUrl }),
    ...(redisUrl && { redisUrl }),
  }
}

/** 0 means a free port. */
function portOf(text = '0'): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Error(`--port must be 0 to 65535, not "${text}"`)
  return port
}
