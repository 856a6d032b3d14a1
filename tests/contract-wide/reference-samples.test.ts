import { type HttpRequest, type RequestOptions, requestOf } from '@market/contract/client'
import { isWrite, type Operation, routesOf } from '@market/contract/define'
import { operationList, operations } from '@market/contract/operations'
import { streamPath } from '@market/http/openapi-stream'
import { exampleInput } from '@market/http/reference/examples'
import { introduction } from '@market/http/reference/introduction'
import { codeSamples, paidOptions, sampleOptions } from '@market/http/reference/samples'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOGO, type Program, type Result, runSamples } from '../support/run-samples.ts'
import { type Receiver, startReceiver } from '../support/sample-receiver.ts'

/** The code of the API reference: each program runs, and the requests that it sends are those of the contract. */

/** The samples call this origin until they run. */
const ORIGIN = 'https://market.test'

const routes = operationList.flatMap(routesOf).map((operation, index) => {
  const samples = codeSamples(ORIGIN, operation)
  return { name: `${operation.id}-${index}`, operation, samples }
})
const titled = routes.map(
  (route) => [`${route.operation.id} ${route.operation.method} ${route.operation.path}`, route] as const,
)
const PAID = 'curl, paid by x402'
/** Operations that can be paid with the request, but need not be. */
const payable = routes.filter(
  ({ operation: { payment } }) => payment !== undefined && payment.when !== 'always',
)

function sampleOf({ name, samples }: (typeof routes)[number], label: string): string {
  const sample = samples.find((one) => one.label === label)
  if (sample === undefined) throw new Error(`${name} has no sample ${label}`)
  return sample.source
}

const FIRST_CALLS = [...introduction(ORIGIN).matchAll(/```sh\n(.*?)```/gs)].map(([, source]) => source)
const STREAM = streamPath(ORIGIN)['/api/events/stream'].get['x-codeSamples'].map(({ source }) => source)

const wrong = (name: string, from: string | RegExp, to: string): Program => {
  const route = routes.find(({ operation }) => operation === operations.deliverOrder)
  const source = route && sampleOf(route, 'TypeScript').replace(from, to)
  return { file: `wrong-${name}.ts`, source: source ?? '', isWrong: true }
}
const WRONG = {
  method: wrong('method', 'market.deliverOrder(', 'market.deliverOrders('),
  field: wrong('field', 'note:', 'notes:'),
  type: wrong('type', /order_id: '.*'/, 'order_id: 1'),
}

const VARIABLES = {
  MARKET_API_KEY: 'market_key',
  ADMIN_KEY: 'adm_key',
  ACCESS_TOKEN: 'token',
  TX_HASH: '0x4f1c',
}

const receivers = new Map<string, Receiver>()
let results: ReadonlyMap<string, Result>

/** A program that sends its requests to a server of its own. With `sold`, that server sells by this x402 version. */
async function programOf(file: string, source: string, sold?: 1 | 2): Promise<Program> {
  const receiver = await startReceiver(sold)
  receivers.set(file, receiver)
  return { file, source: source.replaceAll(ORIGIN, receiver.url) }
}

beforeAll(async () => {
  const ofRoutes = routes.flatMap((route) => {
    const { payment } = route.operation
    const sold = payment?.when === 'always' ? payment.version : undefined
    const ofLanguage = (label: string, extension: string) =>
      programOf(`${route.name}.${extension}`, sampleOf(route, label), sold)
    return [ofLanguage('curl', 'sh'), ofLanguage('TypeScript', 'ts'), ofLanguage('Python', 'py')]
  })
  const paid = payable.map((route) => programOf(`${route.name}-paid.sh`, sampleOf(route, PAID), 2))
  const others = [
    programOf('introduction.sh', FIRST_CALLS.join('\n')),
    programOf('stream.sh', STREAM.join('\n')),
  ]
  const programs = await Promise.all([...ofRoutes, ...paid, ...others])
  const env = { ...VARIABLES, PRIVATE_KEY: generatePrivateKey() }
  results = await runSamples([...programs, ...Object.values(WRONG)], env)
})
afterAll(() => {
  for (const receiver of receivers.values()) receiver.close()
})

const outcomeOf = (file: string) => ({ ...results.get(file), received: receivers.get(file)?.received })

/** Stands for a payment that a wallet signed. */
const SIGNED = 'signed'
const NEW_KEY = paidOptions.idempotencyKey

/** What a program makes of the text in a header. Keys and signed payments differ each time. */
function expanded(value: string): unknown {
  if (value === NEW_KEY)
    return expect.stringMatching(/^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/)
  if (value === SIGNED) return expect.stringMatching(/^[\w+/]{300,}=*$/)
  return value.replace(/\$([A-Z_]+)/g, (_, name: keyof typeof VARIABLES) => VARIABLES[name])
}

const asReceived = ({ method, path, headers, body }: HttpRequest) => ({
  method,
  path,
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), expanded(value)]),
  ),
  body: body === undefined ? undefined : JSON.parse(body),
})

const sends = (...requests: readonly HttpRequest[]) => ({
  error: undefined,
  typeErrors: [],
  received: requests.map(asReceived),
})

/** The requests of the contract. A purchase is two: the second one has the payment. */
function contractOf(operation: Operation, payment: RequestOptions = paidOptions, more: RequestOptions = {}) {
  const input = exampleInput(operation)
  if (operation.payment?.when === 'always')
    return sends(requestOf(operation, input), requestOf(operation, input, payment))
  const expected = sends(requestOf(operation, input, { ...sampleOptions(operation), ...more }))
  if (operation.file === undefined) return expected
  const body = [{ field: operation.file.name, name: 'logo.png', text: LOGO }]
  return {
    ...expected,
    received: expected.received.map((one) => ({
      ...one,
      headers: { ...one.headers, 'content-type': 'multipart/form-data' },
      body,
    })),
  }
}

describe.each(titled)('%s', (_title, route) => {
  const { name, operation } = route

  test('curl sends the request of the contract', () => {
    expect(outcomeOf(`${name}.sh`)).toEqual(contractOf(operation))
  })

  test('TypeScript has no type errors and sends the request of the contract', () => {
    const isInSdk = sampleOf(route, 'TypeScript').includes('new Market(')
    // The SDK adds a key to every write.
    const more = isInSdk && isWrite(operation) ? { idempotencyKey: NEW_KEY } : {}
    const signed = operation.payment?.version === 1 ? { payment: SIGNED } : { signature: SIGNED }
    expect(outcomeOf(`${name}.ts`)).toEqual(contractOf(operation, { payment: signed }, more))
  })

  test('Python sends the request of the contract', () => {
    expect(outcomeOf(`${name}.py`)).toEqual(contractOf(operation))
  })
})

test.each(payable.map((route) => [route.operation.id, route] as const))(
  '%s: the paid sample sends the request without credentials, then with the payment',
  (_id, { name, operation }) => {
    const input = exampleInput(operation)
    const query = operation.payment?.when === 'requested' ? '?pay=x402' : ''
    const sold = { ...operation, path: `${operation.path}${query}` }
    expect(outcomeOf(`${name}-paid.sh`)).toEqual(
      sends(requestOf(sold, input), requestOf(sold, input, paidOptions)),
    )
    expect(operation.payment?.input.safeParse(input).error).toBeUndefined()
  },
)

test('the first calls of the introduction are requests of the contract', () => {
  const { browseServices, registerAgent } = operations
  const agent = { name: 'Word Counter', description: 'Counts the words of a text.' }
  expect(outcomeOf('introduction.sh')).toEqual(
    sends(requestOf(browseServices, { search: 'logo', limit: 5 }), requestOf(registerAgent, agent)),
  )
})

test('the sample of the event stream sends the cursor and the credential', () => {
  const stream = { method: 'GET', path: '/api/events/stream' } as const
  expect(outcomeOf('stream.sh')).toEqual(
    sends(requestOf(stream, { after: '41' }, { bearer: '$MARKET_API_KEY' })),
  )
})

test.each([
  ['method', "Property 'deliverOrders' does not exist"],
  ['field', "'notes' does not exist"],
  ['type', "Type 'number' is not assignable to type 'string'"],
] as const)('a sample with a wrong %s has a type error', (kind, message) => {
  expect(results.get(WRONG[kind].file)?.typeErrors).toEqual([expect.stringContaining(message)])
})
