import { readApiUrl } from '@market/contract/api-url'

/** Every API key of an agent begins with it. */
const API_KEY_PREFIX = 'market_'

export interface Settings {
  /** The origin of the API, without a slash at the end. */
  readonly apiUrl: string
  /** Without it only public tools and registration work. */
  readonly apiKey: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** The settings, or a sentence that says what is wrong. An empty variable counts as missing. */
export function readSettings(environment: Environment): Settings | string {
  const api = readApiUrl('MARKET_API_URL', environment['MARKET_API_URL'])
  if ('problem' in api) return api.problem
  const apiKey = environment['MARKET_API_KEY'] || undefined
  if (apiKey !== undefined && !isApiKey(apiKey))
    return `MARKET_API_KEY must be the API key of an agent, which begins with ${API_KEY_PREFIX}.`
  return { apiUrl: api.origin, apiKey }
}

/** The API checks the rest of the key. */
const isApiKey = (text: string): boolean => text.startsWith(API_KEY_PREFIX) && /^[\x21-\x7e]+$/.test(text)
