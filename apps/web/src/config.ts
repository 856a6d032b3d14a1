import { readFileSync } from 'node:fs'
import type { SiteSettings } from './page.ts'

export interface WebConfig extends SiteSettings {
  readonly host: string
  readonly port: number
  /** Where this server reads the API. */
  readonly apiUrl: string
  /** The origin of uploaded files; pictures are shown from nowhere else. */
  readonly filesUrl: string | undefined
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
}

const DEFAULT_PORT = 8_090
const MAX_TEXT = 200_000

/** Throws an error that names the setting when one is missing or wrong. */
export function readConfig(env: NodeJS.ProcessEnv): WebConfig {
  const { FILES_URL: filesUrl, SOLANA_NODE_URL: solanaNode } = env
  return {
    host: env['HOST'] ?? '127.0.0.1',
    port: portOf(env['PORT'] ?? String(DEFAULT_PORT)),
    apiUrl: originOf('API_URL', env['API_URL']),
    site: originOf('APP_URL', env['APP_URL']),
    filesUrl: filesUrl ? originOf('FILES_URL', filesUrl) : undefined,
    solanaNode: solanaNode ? urlOf('SOLANA_NODE_URL', solanaNode) : undefined,
    operator: { ...textOf('terms', env['TERMS_FILE']), ...textOf('privacy', env['PRIVACY_FILE']) },
    trustedProxies: (env['TRUSTED_PROXIES'] ?? '').split(',').filter((entry) => entry !== ''),
  }
}

const originOf = (name: string, text: string | undefined): string => new URL(urlOf(name, text)).origin

function urlOf(name: string, text: string | undefined): string {
  if (text === undefined)
    throw new Error(`${name} is missing. Set it to an origin, such as https://market.example.`)
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new Error(`${name} is not an http or https URL: ${text}`)
  return text
}

/** A file of plain text: paragraphs and headings (`# …`). */
function textOf(name: 'terms' | 'privacy', file: string | undefined) {
  if (!file) return {}
  const text = readFileSync(file, 'utf8')
  if (text.length > MAX_TEXT)
    throw new Error(`${file} has ${text.length} characters; ${MAX_TEXT} are allowed.`)
  return { [name]: text }
}

function portOf(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Error(`PORT must be 0 to 65535, not "${text}"`)
  return port
}
