import { isIP } from 'node:net'
import { ApiError } from '@market/kernel/api-error'
import { isPublicAddress } from './public-address.ts'

const LONGEST_URL = 2048
const MAX_NAME_LENGTH = 253
const HTTPS_PORT = 443
/** Lower ports belong to services of other kinds, such as mail, which must not get our requests. */
const FIRST_OWN_PORT = 1024
const INSIDE_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home.arpa']
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
/** URL parsers repair or drop these characters, so two parsers could read different hosts. */
const REPAIRED_CHARACTERS = /[\p{Cc}\s\\]/u

export const notPublic = (sentence: string): ApiError =>
  new ApiError('invalid', sentence, { code: 'endpoint_not_public' })

/** The host for sockets and certificates: IPv6 without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

const checkName = (name: string): void => {
  if (name.endsWith('.')) throw notPublic('The host name must not end with a dot.')
  const labels = name.split('.')
  if (name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label)))
    throw notPublic('The host is not a valid domain name.')
  const inside = INSIDE_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
  if (inside || labels.length < 2)
    throw notPublic('The host must be a public domain name, not one of a local network.')
}

/** Checks only the syntax. The resolved addresses are checked at each use. */
export const readPublicUrl = (text: string): URL => {
  if (text.length > LONGEST_URL) throw notPublic(`The URL must have at most ${LONGEST_URL} characters.`)
  if (REPAIRED_CHARACTERS.test(text))
    throw notPublic('The URL must not contain spaces, control characters or backslashes.')
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) throw notPublic('The URL must start with https:// and a host.')
  if (authority.includes('@')) throw notPublic('The URL must not contain a user name or password.')
  const url = URL.parse(text)
  if (url === null) throw notPublic('The URL is not valid: its host or port cannot be read.')
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  if (port !== HTTPS_PORT && port < FIRST_OWN_PORT)
    throw notPublic(`The port must be ${HTTPS_PORT}, or ${FIRST_OWN_PORT} or higher.`)
  const host = hostOf(url)
  if (isIP(host) === 0) checkName(host)
  else if (!isPublicAddress(host)) throw notPublic('The host must be a public internet address.')
  return url
}
