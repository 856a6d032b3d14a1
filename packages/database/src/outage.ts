import { sqlStateOf } from './transact.ts'

/** SQLSTATE classes in which the server is away, full, shutting down, or was too slow. */
const OUTAGES = [/^08/, /^53/, /^57/, /^55P03$/, /^25P03$/]

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

const CLIENT_SENTENCES = [
  /^Query read timeout$/,
  /^timeout exceeded when trying to connect$/,
  /^Connection terminated/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable$/,
]

/** Whether an error says that Postgres could not be reached or did not answer in time: a 503, not a fault of ours. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = sqlStateOf(error)
  if (code !== undefined && (SOCKET_CODES.has(code) || OUTAGES.some((pattern) => pattern.test(code))))
    return true
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return CLIENT_SENTENCES.some((pattern) => pattern.test(error.message))
}
