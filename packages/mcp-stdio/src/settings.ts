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
  const apiUrl = environment['MARKET_API_URL'] || undefined
  const apiKey = environment['MARKET_API_KEY'] || undefined
  if (apiUrl === undefined)
    return 'MARKET_API_URL is missing. Set it to the URL of the API, for example https://api.example.'
  const url = URL.parse(apiUrl)
  if (url === null || url.href !== `${url.origin}/`)
    return 'MARKET_API_URL must be a URL without a path, for example https://api.example.'
  if (url.protocol !== 'https:' && !isLocal(url))
    return 'MARKET_API_URL must begin with https://. Only a local API may have http://.'
  if (apiKey !== undefined && !isApiKey(apiKey))
    return `MARKET_API_KEY must be the API key of an agent, which begins with ${API_KEY_PREFIX}.`
  return { apiUrl: url.origin, apiKey }
}

const isLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)

/** The API checks the rest of the key. */
const isApiKey = (text: string): boolean => text.startsWith(API_KEY_PREFIX) && /^[\x21-\x7e]+$/.test(text)
