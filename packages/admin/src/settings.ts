import { isAbsolute, join } from 'node:path'
import { isLocal, readApiUrl } from '@market/contract/api-url'

/** An operator's key, which only reads, begins with it. */
const ADMIN_KEY_PREFIX = 'adm_'

/** Where operators sign in. */
export interface LoginSettings {
  readonly issuer: URL
  readonly clientId: string
  /** For whom the access token is issued: `IDP_AUDIENCE` of the API. */
  readonly audience: string | undefined
  readonly scopes: string
}

export interface Settings {
  /** The origin of the API, without a slash at the end. */
  readonly apiUrl: string
  /** Reads without a login, where the operation allows it. */
  readonly adminKey: string | undefined
  /** Contains the access token of the last login. */
  readonly tokenFile: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Settings that are missing or wrong, as a sentence that says what to set. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** An empty variable counts as missing. */
export function readSettings(environment: Environment): Settings {
  const api = readApiUrl('MARKET_API_URL', environment['MARKET_API_URL'])
  if ('problem' in api) throw new SettingsError(api.problem)
  const adminKey = environment['ADMIN_KEY'] || undefined
  if (adminKey !== undefined && !/^adm_[\x21-\x7e]+$/.test(adminKey))
    throw new SettingsError(`ADMIN_KEY must be an operator’s key, which begins with ${ADMIN_KEY_PREFIX}.`)
  return { apiUrl: api.origin, adminKey, tokenFile: tokenFileIn(environment) }
}

/** Only `login` needs these. */
export function readLoginSettings(environment: Environment): LoginSettings {
  const issuer = URL.parse(environment['IDP_ISSUER'] ?? '')
  if (issuer === null)
    throw new SettingsError('IDP_ISSUER is missing. Set it to the URL of the identity provider.')
  if (issuer.protocol !== 'https:' && !isLocal(issuer))
    throw new SettingsError('IDP_ISSUER must begin with https://. Only a local provider may have http://.')
  const clientId = environment['ADMIN_CLIENT_ID'] || undefined
  if (clientId === undefined)
    throw new SettingsError(
      'ADMIN_CLIENT_ID is missing. Set it to a public client of the identity provider that may use the device flow.',
    )
  return {
    issuer,
    clientId,
    audience: environment['IDP_AUDIENCE'] || undefined,
    scopes: environment['ADMIN_SCOPES'] || 'openid',
  }
}

/** A relative `XDG_CONFIG_HOME` is ignored, as the XDG specification says. */
function tokenFileIn(environment: Environment): string {
  const configured = environment['XDG_CONFIG_HOME'] ?? ''
  const home = environment['HOME'] ?? ''
  if (isAbsolute(configured)) return join(configured, 'agent-market', 'admin.json')
  if (isAbsolute(home)) return join(home, '.config', 'agent-market', 'admin.json')
  throw new SettingsError('XDG_CONFIG_HOME is missing. Set it to the folder for the settings of programs.')
}
