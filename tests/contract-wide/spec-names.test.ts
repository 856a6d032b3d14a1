import { tools } from '@market/contract/tools'
import { ANONYMOUS_TOOLS } from '@market/mcp/anonymous-tools'
import { expect, test } from 'vitest'
import { ROUTES, specEndpoints, specNames, specTools, TEXT } from './spec-names.ts'

/**
 * The table of `docs/architecture/specification.md`: every endpoint, tool and name of the specification, read out of its text
 * (`specification.md` beside this file), with what has it here. Behaviour is tested by `spec.test.ts` and `spec-x402.test.ts`.
 */

/** Served beside the operations of the contract, with the tests that call them. */
const SURFACES: Readonly<Record<string, string>> = {
  'GET /.well-known/x402': 'manifest of x402, `tests/x402/catalog-documents.test.ts`',
  'GET /openapi.json': 'OpenAPI of the payable services, `tests/x402/catalog-documents.test.ts`',
  'POST /api/x402/mcp': 'anonymous MCP, `tests/mcp/anonymous.test.ts`',
}

/** Forms of values, and parts of paths and protocols, which no schema names. */
const FORMS: Readonly<Record<string, string>> = {
  market_: 'prefix of API keys and tools',
  'X-Market': 'prefix of headers',
  idp: 'prefix of names of the identity provider',
  pool: 'segment of the paths of Earn',
  directory: 'segment of a path of x402',
  agt_: 'id of an agent',
  whsec_: 'prefix of webhook secrets',
  'YYYY-MM-DD': 'time of a user',
  HH: 'time of a user',
  MM: 'time of a user',
  SS: 'time of a user',
  svc__: 'id of a service',
  ord__: 'id of an order',
  bnty__: 'id of a bounty',
  x402_: 'operationId of a service in `GET /openapi.json`',
  protocolVersion: 'field of MCP',
  initialize: 'method of MCP',
  x402: 'value of `payment_method`',
  tools: 'method of MCP',
  list: 'method of MCP',
  v1: 'part of `X-Market-Signature`',
}

/** Decided exceptions: a name of the specification that is different here. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  ext__: 'an agent has one id, `agt_…`, at its registration and in its profile',
  'order.quoted':
    'declared by the specification as never sent: no webhook has it; buyers read it in `GET /api/events`',
  'order.delivered':
    'declared by the specification as never sent: no webhook has it; buyers read it in `GET /api/events`',
}

/** Decided exceptions to what the specification says an endpoint does. Each is described in `docs/contract`. */
const BEHAVIOUR = [
  'x402: a transfer from a wallet that is linked to an account, or that has an open order or bounty which it could pay, needs the signature of that wallet ([x402](../contract/x402.md)).',
  '`POST /api/x402/pay` for a fixed service with a quota answers `in_progress`, because its workspace starts by itself ([workspaces](../contract/workspaces.md)).',
  '`register_agent` by a program that is connected by OAuth needs the scope `market:keys` ([connections](../contract/connections.md)).',
  'An owner can replace the webhook secret and ask for one delivery again, and an endpoint that never responded with 2xx gets at most 10 attempts an hour ([events](../contract/events.md)).',
  '`POST /api/agents/{agent_id}/token` rejects an agent without an owner ([wallets](../contract/wallets.md)).',
  'An order offers only networks on which its agent has an address, so `payout_chain` chooses among those ([agents](../contract/agents.md)).',
]

const names = specNames()
const endpoints = specEndpoints()

test('specification: every endpoint is an operation of the contract, or a surface with tests of its own', () => {
  expect(endpoints.length).toBeGreaterThan(40)
  expect(endpoints.filter((one) => !ROUTES.has(one) && !(one in SURFACES))).toEqual([])
  expect(Object.keys(SURFACES).filter((one) => !endpoints.includes(one))).toEqual([])
})

test('specification: the tools are its tools, in its order', () => {
  const { unified, anonymous } = specTools()
  expect(unified).toHaveLength(39)
  expect(tools.map(({ name }) => name)).toEqual(unified)
  expect(ANONYMOUS_TOOLS.map(({ name }) => name)).toEqual(anonymous)
})

test('specification: every name is in the operation of its line or section, but for forms and decided exceptions', () => {
  expect(names.length).toBeGreaterThan(400)
  const unmatched = names.filter(
    ({ name, match }) => match === undefined && !(name in FORMS) && !(name in EXCEPTIONS),
  )
  expect(unmatched.map(({ section, name }) => `${section}: ${name}`)).toEqual([])
  const used = new Set(names.filter(({ match }) => match === undefined).map(({ name }) => name))
  expect([...Object.keys(FORMS), ...Object.keys(EXCEPTIONS)].filter((name) => !used.has(name))).toEqual([])
})

/** `{}` in a path is one parameter, whatever it is called. */
const titleOf = (key: string): string => ROUTES.get(key)?.title ?? key

const code = (text: string): string => `\`${text}\``

test('specification: the page lists what has each endpoint, tool and name', async () => {
  const { unified, anonymous } = specTools()
  const matchOf = ({ name, match }: (typeof names)[number]) =>
    match ?? EXCEPTIONS[name] ?? FORMS[name] ?? expect.unreachable(name)
  const rows = [...Map.groupBy(names, (one) => `${one.section}\n${matchOf(one)}`)].map(([key, group]) => {
    const [section, match] = key.split('\n')
    return `| ${section} | ${[...new Set(group.map(({ name }) => code(name)))].join(', ')} | ${match} |`
  })
  const page = `# What the specification names, and what has it here

Written by \`npx vitest run tests/contract-wide/spec-names.test.ts -u\` from the text of the specification
(\`tests/contract-wide/specification.md\`) and the contract. The test fails for a name that nothing has, and when this page is out of date.

## Decided exceptions

${[...Object.entries(EXCEPTIONS).map(([name, why]) => `${code(name)}: ${why}.`), ...BEHAVIOUR].map((one) => `- ${one}`).join('\n')}

## Endpoints (${endpoints.length})

| Specification | Here |
|---|---|
${endpoints.map((one) => `| ${code(one)} | ${ROUTES.has(one) ? code(titleOf(one)) : SURFACES[one]} |`).join('\n')}

## Tools (${unified.length} and ${anonymous.length})

| Surface | Tools |
|---|---|
| \`/mcp\` and stdio | ${unified.map(code).join(', ')} |
| \`POST /api/x402/mcp\` | ${anonymous.map(code).join(', ')} |

## Names (${names.length} in ${new Set(names.map(({ section }) => section)).size} sections)

| Section | Names | Here |
|---|---|---|
${rows.join('\n')}
`
  expect(TEXT).toContain('Complete field list of an order')
  await expect(page).toMatchFileSnapshot('../../docs/architecture/specification.md')
})
