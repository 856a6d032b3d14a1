import { readFileSync } from 'node:fs'
import { routesOf } from '@market/contract/define'
import { ERROR_CODES } from '@market/contract/error-codes'
import { EVENTS } from '@market/contract/events'
import { operationList } from '@market/contract/operations'
import { jsonSchema, toolList } from '@market/contract/tools'
import { challengeBody } from '@market/handlers/x402/challenge'
import { openApi } from '@market/http/openapi'
import { servicePath } from '@market/http/x402/services-operation'
import { NETWORKS } from '@market/kernel/network'
import { ANONYMOUS_TOOLS } from '@market/mcp/anonymous-tools'

/** Reads every endpoint, tool and name out of the text of the specification, and finds what has each of them here. */

export const TEXT = readFileSync(new URL('specification.md', import.meta.url), 'utf8')
const LINES = TEXT.split('\n')

type Json = Readonly<Record<string, unknown>>
const document = openApi('https://market.test') as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly webhooks: Readonly<Record<string, Json>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

/** The properties and the fixed values in a JSON schema, with those that it refers to. */
function namesOf(schema: unknown, found = new Set<string>(), seen = new Set<unknown>()): Set<string> {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return found
  seen.add(schema)
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') for (const name of Object.keys(value as object)) found.add(name)
    if (key === 'enum') for (const one of value as unknown[]) found.add(String(one))
    if (key === 'const') found.add(String(value))
    if (key === 'name' && 'in' in schema) found.add(String(value))
    if (key === '$ref')
      namesOf(document.components.schemas[String(value).split('/').at(-1) ?? ''], found, seen)
    namesOf(value, found, seen)
  }
  return found
}

/** The keys and the texts in a value, also the nested ones. */
function wordsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'string') found.add(value)
  if (typeof value !== 'object' || value === null) return found
  for (const [key, one] of Object.entries(value)) {
    if (!Array.isArray(value)) found.add(key)
    wordsIn(one, found)
  }
  return found
}

const shape = (path: string): string => path.replace(/\{\w+\}|<[^>]*>/g, '{}')

interface Route {
  readonly title: string
  readonly request: ReadonlySet<string>
  readonly response: ReadonlySet<string>
}

const challenge = wordsIn(
  challengeBody(
    {
      ...{ subject: 'service:svc_1', due: 1n, description: 'A service', path: '/api/x402/pay' },
      ...{ ways: NETWORKS.map((network) => ({ network, chain: { usdc: '0x1', treasury: '0x2' } })) },
      payoutWaitMs: null,
    } as never,
    'https://market.test',
  ),
)

function routeOf(method: string, path: string): Route {
  const described = document.paths[path]?.[method.toLowerCase()] ?? {}
  const { parameters, requestBody, responses } = described as {
    parameters?: unknown
    requestBody?: unknown
    responses?: Json
  }
  const request = namesOf([parameters, requestBody])
  const response = namesOf(responses)
  if (responses !== undefined && '402' in responses) for (const word of challenge) response.add(word)
  return { title: `${method} ${path}`, request, response }
}

/** The routes of the contract, and those that programs serve without an entry there. */
export const ROUTES: ReadonlyMap<string, Route> = new Map(
  operationList
    .flatMap(routesOf)
    .map(({ method, path }) => [`${method} ${shape(path)}`, routeOf(method, path)] as const),
)

export const TOOLS = new Map(
  [...toolList(), ...ANONYMOUS_TOOLS].map(({ name, ...schemas }) => [name, namesOf(schemas)] as const),
)

/** The full paths in a text: `POST /api/a, /api/b`, `/token and /token/launch`. */
export function endpointsIn(line: string): string[] {
  const text = line.replace(/`/g, '')
  const found: string[] = []
  for (const [, method, first = '', rest = ''] of text.matchAll(
    /\b(GET|POST|PATCH|PUT|DELETE)[\s|]+(?:\{base_url\})?(\/(?:api|openapi|\.well-known|mcp)[\w./{}-]*)((?:\??[\w=<>*]*,? (?:and )?\/[\w./{}-]+)*)/g,
  )) {
    found.push(`${method} ${shape(first)}`)
    for (const [further] of rest.matchAll(/\/[\w./{}-]+/g)) {
      const [, segment] = further.split('/')
      const full = further.startsWith('/api/')
        ? further
        : first.slice(0, first.lastIndexOf(`/${segment}`)) + further
      found.push(`${method} ${shape(full)}`)
    }
  }
  for (const [, path = ''] of text.matchAll(/(?<![\w}] ?)(?<=[\s(])(\/api\/orders\/\{id\}\/generate)/g))
    found.push(`POST ${shape(path)}`)
  return [...new Set(found.map((one) => one.replace(/\.$/, '')))]
}

const TYPES = new Set(
  'string number object boolean integer true false null when this call created the row'.split(' '),
)

/** The names in what stands in backticks. */
export function namesIn(line: string): string[] {
  const found = [...line.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => {
    if (/^(GET|POST|PATCH|PUT|DELETE) |^\/|^Authorization|^application\/|^\{id\}$|^\. - /.test(code))
      return []
    const plain = code.replace(/<[^>]*>?/g, '').replace(/\([^)]*\)/g, '')
    const names = plain.match(/[A-Za-z][\w.-]*[A-Za-z0-9_]|\b\w\b/g) ?? []
    return names.filter((name) => !TYPES.has(name) && !/^\d+$/.test(name))
  })
  return [...new Set(found)]
}

/** The operations whose fields a section of the specification lists. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'Response envelope': ['GET /api/notifications', 'GET /api/bounties'],
  Agent: ['POST /api/agents/register', 'GET /api/agents/me', 'POST /api/agents/{}/token'],
  'User (identity-provider account)': ['POST /api/auth/user'],
  'Service listing': ['POST /api/agents/{}/services'],
  Order: ['GET /api/orders/{}'],
  Bounty: ['POST /api/bounties', 'POST /api/bounties/{}/accept'],
  'Payment requirements (x402 challenge)': ['POST /api/x402/pay'],
  'Funding record (agent server wallet)': ['GET /api/agents/{}/funding'],
  'Earn records': ['GET /api/earn/pool/markets'],
  'x402 per-service discovery (OpenAPI-described)': [
    'GET /api/x402/discover/{}',
    'POST /api/x402/discover/{}',
  ],
  'x402 flow and endpoints': ['POST /api/x402/pay', 'POST /api/agents/register'],
  'States and transitions': ['PATCH /api/orders/{}', 'GET /api/orders/{}'],
}

/** The operation that `GET /openapi.json` has for each service. */
const serviceWords = wordsIn(
  servicePath({ id: 'svc_1', title: 'A', line: 'A', category: 'coding', priceUsd: '1.00' } as never, []),
)

const OWN_AGENT = 'GET /api/agents/me'

const HEADERS = (
  'X-PAYMENT X-Payment-Network X-Market-Brief X-Market-Wallet-Chain X-Market-Event X-Market-Agent-Id X-Market-Delivery-Id ' +
  'X-Market-Signature Content-Type Retry-After X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset'
).split(' ')
/** Credential fields, which every operation with a credential takes beside its input. */
const CREDENTIALS = ['idp_access_token', 'idp-token', 'wallet', 'wallet_sig', 'wallet_sig_ts', 'wallet_chain']

const eventNames = new Map(
  Object.entries(EVENTS).map(
    ([event, schema]) => [event, namesOf(jsonSchema(schema as never, 'output'))] as const,
  ),
)
const everywhere = new Set([...ROUTES.values()].flatMap(({ request, response }) => [...request, ...response]))

/** What has a name of a line: the operations of the line or of its section, an event, a tool, and so on. */
function matchOf(section: string, name: string, routes: readonly string[], line: string): string | undefined {
  for (const key of routes) {
    const route = ROUTES.get(key)
    const isIn = [name, name.split('.').at(-1) ?? ''].some(
      (one) => route?.request.has(one) || route?.response.has(one),
    )
    if (route !== undefined && isIn)
      return `${route.request.has(name) ? 'request' : 'response'} of \`${route.title}\``
  }
  // What an operation requires of its agent.
  if (section === 'Identity and agents' && ROUTES.get(OWN_AGENT)?.response.has(name))
    return `response of \`${OWN_AGENT}\``
  const event = [...eventNames].find(([one, data]) => line.includes(`| ${one} |`) && data.has(name))
  if (event !== undefined) return `event \`${event[0]}\``
  if (eventNames.has(name)) return 'event'
  if (TOOLS.has(name) || TOOLS.has(`market_${name}`)) return 'tool'
  const tool = [...TOOLS].find(
    ([one, names]) => line.includes(`\`${one.replace('market_', '')}\``) && names.has(name),
  )
  if (tool !== undefined) return `tool \`${tool[0]}\``
  if (HEADERS.includes(name)) return 'header'
  if (section.startsWith('x402 per-service') && (serviceWords.has(name) || name === 'x-payment-info.price'))
    return '`GET /openapi.json`'
  if (CREDENTIALS.includes(name)) return 'credential'
  if (name in ERROR_CODES) return 'error code'
  const where = routes.length === 0 && everywhere.has(name)
  return where ? 'contract' : undefined
}

export interface Named {
  readonly section: string
  readonly name: string
  readonly match: string | undefined
}

/** Every name of the specification with the section that it stands in. */
export function specNames(): Named[] {
  let section = ''
  return LINES.flatMap((line) => {
    const [, heading] = /^#+ (.+)$/.exec(line) ?? []
    if (heading !== undefined) section = heading
    const ofLine = endpointsIn(line).filter((one) => ROUTES.has(one))
    const routes = ofLine.length > 0 ? ofLine : (SECTIONS[section] ?? [])
    const ofRow = /^\| ([a-z]\w*)(?: \/ (\w+))? \|/.exec(line) ?? []
    const isField = section in SECTIONS && !/^\| (Field|Item|From|Method) /.test(line)
    const names = [...namesIn(line), ...(isField ? ofRow.slice(1).filter((one) => one !== undefined) : [])]
    return [...new Set(names)].map((name) => ({ section, name, match: matchOf(section, name, routes, line) }))
  })
}

export const specEndpoints = (): string[] => [...new Set(LINES.flatMap(endpointsIn))].sort()

/** The tools as "The 39 tools" and "Anonymous tools" list them. */
export function specTools(): { unified: string[]; anonymous: string[] } {
  const [, list = ''] = TEXT.split('The 39 tools')
  const groups = (list.split('\n## ')[0] ?? '').split('\n').filter((line) => /^- \w.*\(\d+\): /.test(line))
  const unified = groups.flatMap((line) => {
    const count = Number(/\((\d+)\)/.exec(line)?.[1])
    const named = line.slice(line.indexOf(': ')).replace(/\((?:[^()]|\([^)]*\))*\)/g, '')
    const names = [...named.matchAll(/`(\w+)`/g)].map(([, name]) => `market_${name}`)
    if (names.length !== count) throw new Error(`${line} lists ${names.length}`)
    return names
  })
  const anonymous = [...(/^Anonymous tools:.*$/m.exec(TEXT)?.[0] ?? '').matchAll(/`(\w+)` \(arguments/g)].map(
    ([, name = '']) => name,
  )
  return { unified, anonymous }
}
