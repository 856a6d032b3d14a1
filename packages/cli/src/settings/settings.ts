import { readApiUrl } from '@market/contract/api-url'
import { CommandError, UsageError } from '../usage-error.ts'
import { type Config, configPath, loadConfig, type Profile } from './config-file.ts'

type Environment = Readonly<Record<string, string | undefined>>

export type CredentialKind = 'agent' | 'user'

/** What options of every command choose. */
export interface Choices {
  readonly json: boolean
  readonly profile: string | undefined
  readonly 'api-url': string | undefined
  readonly as: string | undefined
}

/** A credential, and where it comes from. */
export interface Credential {
  readonly kind: CredentialKind
  readonly secret: string
  readonly source: string
}

export interface Settings {
  readonly path: string
  readonly config: Config
  readonly profileName: string
  readonly profile: Profile
  readonly as: CredentialKind | undefined
  /** Throws when it is missing or malformed. */
  readonly apiUrl: () => string
  /** Whether --api-url or MARKET_API_URL names another API than the profile. */
  readonly isOtherApi: () => boolean
  /** What MARKET_API_KEY, MARKET_TOKEN and the profile have for this API. */
  readonly credential: (kind: CredentialKind) => Credential | undefined
}

/** Every API key of an agent begins with it. */
export const API_KEY_PREFIX = 'market_'

export const isApiKey = (text: string): boolean => /^market_[\x21-\x7e]+$/.test(text)

/** An empty variable counts as missing. */
export async function readSettings(environment: Environment, globals: Choices): Promise<Settings> {
  const path = configPath(environment)
  const config = await loadConfig(path)
  const profileName = globals.profile ?? config.profile
  const profile = config.profiles[profileName] ?? {}
  if (globals.profile !== undefined && !/^[\w.-]{1,64}$/.test(globals.profile))
    throw new UsageError('--profile must have letters, digits, dots, dashes and underscores only.')
  const apiUrl = () => {
    const [name, text] = sourceOfUrl(environment, globals, profile)
    const api = readApiUrl(name, text)
    if ('origin' in api) return api.origin
    if (text === undefined)
      throw new UsageError(
        `The API is not configured for profile ${profileName}. Set MARKET_API_URL, or store it.`,
        'market config set api_url https://api.example',
      )
    throw new UsageError(api.problem)
  }
  return {
    path,
    config,
    profileName,
    profile,
    as: globals.as as CredentialKind | undefined,
    apiUrl,
    isOtherApi: () => {
      if (profile.api_url === undefined) return false
      const own = readApiUrl('api_url', profile.api_url)
      return !('origin' in own) || own.origin !== apiUrl()
    },
    credential: (kind) => credentialOf(kind, environment, profile, apiUrl),
  }
}

function sourceOfUrl(
  environment: Environment,
  globals: Choices,
  profile: Profile,
): readonly [string, string | undefined] {
  if (globals['api-url'] !== undefined) return ['--api-url', globals['api-url']]
  const fromEnvironment = environment['MARKET_API_URL'] || undefined
  if (fromEnvironment !== undefined) return ['MARKET_API_URL', fromEnvironment]
  return ['api_url', profile.api_url]
}

function credentialOf(
  kind: CredentialKind,
  environment: Environment,
  { agent, login }: Profile,
  apiUrl: () => string,
): Credential | undefined {
  const name = kind === 'agent' ? 'MARKET_API_KEY' : 'MARKET_TOKEN'
  const given = environment[name] || undefined
  if (given !== undefined) {
    if (kind === 'agent' && !isApiKey(given))
      throw new UsageError(
        `MARKET_API_KEY must be the API key of an agent, which begins with ${API_KEY_PREFIX}.`,
      )
    return { kind, secret: given, source: name }
  }
  // Another API never gets a stored credential.
  if (kind === 'agent')
    return agent?.api_url === apiUrl() ? { kind, secret: agent.api_key, source: 'the profile' } : undefined
  if (login === undefined || login.api_url !== apiUrl()) return undefined
  if (Date.parse(login.expires_at) <= Date.now()) return undefined
  return { kind, secret: login.access_token, source: 'the login' }
}

/** Why there is no credential, and how to get one. */
export function missingCredential(kinds: readonly CredentialKind[], settings: Settings): CommandError {
  const { login, agent } = settings.profile
  if (kinds.includes('user') && login !== undefined && login.api_url === settings.apiUrl())
    return new CommandError('login_expired', `Your login expired at ${login.expires_at}.`, 'market login')
  const elsewhere = [agent, login].find((one) => one !== undefined && one.api_url !== settings.apiUrl())
  if (elsewhere !== undefined)
    return new CommandError(
      'other_api',
      `Profile ${settings.profileName} has credentials for ${elsewhere.api_url}, not for ${settings.apiUrl()}. Use another profile.`,
      'market --profile <name> login',
    )
  if (!kinds.includes('user'))
    return new CommandError(
      'no_api_key',
      'This needs the API key of an agent. Store one, set MARKET_API_KEY, or register an agent.',
      'market login --api-key',
    )
  return new CommandError(
    'not_logged_in',
    kinds.includes('agent')
      ? 'You are not logged in. Log in as a user, or store the API key of an agent.'
      : 'You are not logged in. Log in, or set MARKET_TOKEN.',
    'market login',
  )
}
