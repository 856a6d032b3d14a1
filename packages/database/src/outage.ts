import { sqlStateOf } from './transact.ts'

/** SQLSTATE classes for a server that is unreachable, out of resources, shutting down, too slow, or an unpromoted standby. */
// fix: standby-outage
const OUTAGES = [/^08/, /^53/, /^57/, /^55P03$/, /^25P03$/, /^25006$/]

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

const CLIENT_MESSAGES = [
  /^Query read timeout$/,
  /^timeout exceeded when trying to connect$/,
  /^Connection terminated/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable$/,
]

/** Whether Postgres could not be reached or did not respond in time. The response is 503, not 500. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = sqlStateOf(error)
  if (code !== undefined && (SOCKET_CODES.has(code) || OUTAGES.some((pattern) => pattern.test(code))))
    return true
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return CLIENT_MESSAGES.some((pattern) => pattern.test(error.message))
}
