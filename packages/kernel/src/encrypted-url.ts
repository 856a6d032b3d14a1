/** Hosts that a connection reaches without a network. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i

type Rule = (url: URL) => boolean

const isPostgresEncrypted: Rule = ({ searchParams }) =>
  searchParams.getAll('sslmode').at(-1) === 'verify-full'

/** The driver prefers the parameter `host`, which may be the folder of a unix socket. */
const isPostgresLocal: Rule = ({ protocol, hostname, searchParams }) => {
  const host = searchParams.getAll('host').at(-1) || decodeURIComponent(hostname)
  return protocol === 'socket:' || host.startsWith('/') || LOOPBACK.test(host)
}

const HTTPS = {
  isEncrypted: ({ protocol }: URL) => protocol === 'https:',
  isLocal: ({ hostname }: URL) => LOOPBACK.test(hostname),
  needs: 'https://',
}

/** What each URL must say to be encrypted, with the certificate of the other side checked. */
const RULES = {
  DATABASE_URL: {
    isEncrypted: isPostgresEncrypted,
    isLocal: isPostgresLocal,
    needs: 'sslmode=verify-full',
  },
  REDIS_URL: {
    isEncrypted: ({ protocol }: URL) => protocol === 'rediss:',
    isLocal: ({ hostname }: URL) => LOOPBACK.test(hostname),
    needs: 'rediss://',
  },
  IDP_ISSUER: HTTPS,
  // fix: kms-url
  KMS_ENDPOINT: HTTPS,
  S3_ENDPOINT: HTTPS,
  PRICES_URL: HTTPS,
  SWAP_URL: HTTPS,
  // fix: screening-url
  SCREENING_URL: HTTPS,
} as const satisfies Readonly<Record<string, { isEncrypted: Rule; isLocal: Rule; needs: string }>>

type Environment = Readonly<Record<string, string | undefined>>

export const isDevelopment = (env: Environment): boolean => env['MARKET_ENV'] === 'development'

/** Which connections of this environment others could read or change. Always empty in development. */
export function unencryptedUrls(env: Environment): string[] {
  if (isDevelopment(env)) return []
  return Object.entries(RULES).flatMap(([name, { isEncrypted, isLocal, needs }]) => {
    const url = URL.parse(env[name] ?? '')
    if (url === null || isEncrypted(url) || isLocal(url)) return []
    return [`${name}: must be encrypted (${needs}), because its host is not this machine`]
  })
}
