import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type HttpRequest, requestOf } from '@market/contract/client'
import { type Operation, routesOf } from '@market/contract/define'
import { EVENTS, type EventName } from '@market/contract/events'
import { operationList, operations } from '@market/contract/operations'
import { openApi } from '@market/http/openapi'
import { exampleBody, exampleInput } from '@market/http/reference/examples'
import { codeSamples, paidOptions, sampleOptions } from '@market/http/reference/samples'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** The examples and the code of the API reference. */

const run = promisify(execFile)
const routes = operationList.flatMap(routesOf)
const titled = routes.map(
  (operation) => [`${operation.id} ${operation.method} ${operation.path}`, operation] as const,
)

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const OURS = /^(authorization|idempotency-key|x-payment|x-payment-network|content-type)$/

let received: Received[] = []
const receiver = createServer(async (request: IncomingMessage, response) => {
  const headers = Object.entries(request.headers).filter(([name]) => OURS.test(name))
  received.push({
    method: request.method ?? '',
    path: request.url ?? '',
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: await text(request),
  })
  response.end('{}')
})
let baseUrl: string

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  baseUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
})
afterAll(() => {
  receiver.close()
  receiver.closeAllConnections()
})

const VARIABLES = {
  MARKET_API_KEY: 'market_key',
  ADMIN_KEY: 'adm_key',
  ACCESS_TOKEN: 'token',
  TX_HASH: '0x4f1c',
}

/** What the shell makes of the variables in a header. A new key differs each time. */
const expanded = (value: string): unknown =>
  value.includes('openssl')
    ? expect.stringMatching(/^[0-9a-f]{32}$/)
    : value.replace(/\$([A-Z_]+)/g, (_, name: keyof typeof VARIABLES) => VARIABLES[name])

const expectedOf = ({ method, path, headers, body }: HttpRequest) => ({
  method,
  path,
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), expanded(value)]),
  ),
  body: body === undefined ? '' : JSON.parse(body),
})

async function sentBy(source: string) {
  received = []
  await run('bash', ['-euc', source], { env: { PATH: process.env['PATH'], ...VARIABLES } })
  return received.map(({ body, ...rest }) => ({ ...rest, body: body === '' ? '' : JSON.parse(body) }))
}

const sampleOf = (operation: Operation, label: string): string => {
  const sample = codeSamples(baseUrl, operation).find((one) => one.label === label)
  if (sample === undefined) throw new Error(`${operation.id} has no sample ${label}`)
  return sample.source
}

describe.each(titled)('%s', (_title, operation) => {
  const input = exampleInput(operation)

  test('the example input is valid', () => {
    expect(operation.input.safeParse(input).error).toBeUndefined()
  })

  test('the example response is valid', () => {
    const body = exampleBody(operation) as { data: unknown }
    const data = operation.isBare === true ? body : body.data
    expect(operation.output.safeParse(data).error).toBeUndefined()
    expect(operation.beside?.safeParse(body).error).toBeUndefined()
  })

  test.skipIf(operation.file)('curl sends the request of the contract', async () => {
    const isSold = operation.payment?.when === 'always'
    const plain = requestOf(operation, input, isSold ? {} : sampleOptions(operation))
    const expected = isSold ? [plain, requestOf(operation, input, paidOptions)] : [plain]
    expect(await sentBy(sampleOf(operation, 'curl'))).toEqual(expected.map(expectedOf))
  })

  test('TypeScript parses and names an operation that exists', () => {
    const source = sampleOf(operation, 'TypeScript')
    expect(() => stripTypeScriptTypes(source)).not.toThrow()
    const [, id] = /await market\.(\w+)\(/.exec(source) ?? []
    expect(id === undefined ? [] : [id].filter((one) => !(one in operations))).toEqual([])
  })
})

test('the upload sends the file as a form', () => {
  expect(sampleOf(operations.uploadFile, 'curl')).toContain(`-F 'file=@logo.png'`)
})

test.each([operations.createOrder, operations.registerAgent])(
  '$id: the paid sample sends the request without credentials, then with the payment',
  async (operation) => {
    const sent = await sentBy(sampleOf(operation, 'curl, paid by x402'))
    expect(sent).toHaveLength(2)
    expect(sent[0]?.headers).toEqual({ 'content-type': 'application/json' })
    expect(sent[1]?.headers).toMatchObject({ 'x-payment': VARIABLES.TX_HASH })
    for (const { body } of sent) expect(operation.payment?.input.safeParse(body).error).toBeUndefined()
  },
)

test('Python: every sample parses', async () => {
  const sources = routes.map((operation) => sampleOf(operation, 'Python'))
  const script = 'import ast, json, sys\nfor source in json.load(sys.stdin): ast.parse(source)'
  const parsing = run('python3', ['-c', script])
  parsing.child.stdin?.end(JSON.stringify(sources))
  await expect(parsing).resolves.toMatchObject({ stderr: '' })
})

describe('the OpenAPI document', () => {
  const document = openApi('https://market.test') as {
    readonly info: { readonly description: string }
    readonly tags: readonly { readonly name: string; readonly description: string }[]
    readonly webhooks: Readonly<Record<string, { readonly post: Webhook }>>
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
  interface Webhook {
    readonly parameters: readonly { readonly name: string }[]
    readonly requestBody: { readonly content: { readonly 'application/json': { readonly example: unknown } } }
  }
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document as AnySchema, 'openapi')
  const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

  test('every example is valid by the schema beside it', () => {
    const wrong: string[] = []
    const visit = (node: unknown, path: readonly string[]): void => {
      if (typeof node !== 'object' || node === null) return
      if ('schema' in node && 'example' in node && node.schema !== undefined) {
        const validate = ajv.compile({ $ref: `openapi#/${[...path, 'schema'].map(escaped).join('/')}` })
        if (!validate(node.example)) wrong.push(`${path.join(' ')}: ${ajv.errorsText(validate.errors)}`)
        return
      }
      for (const [key, value] of Object.entries(node)) visit(value, [...path, key])
    }
    visit(document.paths, ['paths'])
    visit(document.webhooks, ['webhooks'])
    expect(wrong).toEqual([])
  })

  test('has a webhook for every event of agents, with its headers and a valid example', () => {
    expect(Object.keys(document.webhooks)).toEqual(Object.keys(EVENTS))
    for (const [event, { post }] of Object.entries(document.webhooks)) {
      expect(post.parameters.map(({ name }) => name)).toContain('X-Market-Signature')
      const { data } = post.requestBody.content['application/json'].example as { data: unknown }
      expect(EVENTS[event as EventName].safeParse(data).error).toBeUndefined()
    }
  })

  test('describes every group, operators last', () => {
    expect(new Set(document.tags.map(({ name }) => name))).toEqual(
      new Set(operationList.map(({ group }) => group)),
    )
    expect(document.tags.at(-1)?.name).toBe('Administration')
  })

  test('begins with a quick start that links to the guides and the error codes', () => {
    for (const path of ['/docs/guides', '/docs/contract/errors', '/docs/contract/identity'])
      expect(document.info.description).toContain(`(https://market.test${path})`)
  })
})
