import { routesOf } from '@market/contract/define'
import { EVENTS, type EventName } from '@market/contract/events'
import { operationList } from '@market/contract/operations'
import { openApi } from '@market/http/openapi'
import { exampleBody, exampleInput } from '@market/http/reference/examples'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'

/** The examples of the API reference. */

const titled = operationList
  .flatMap(routesOf)
  .map((operation) => [`${operation.id} ${operation.method} ${operation.path}`, operation] as const)

describe.each(titled)('%s', (_title, operation) => {
  test('the example input is valid', () => {
    expect(operation.input.safeParse(exampleInput(operation)).error).toBeUndefined()
  })

  test('the example response is valid', () => {
    const body = exampleBody(operation) as { data: unknown }
    const data = operation.isBare === true ? body : body.data
    expect(operation.output.safeParse(data).error).toBeUndefined()
    expect(operation.beside?.safeParse(body).error).toBeUndefined()
  })
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

  interface Described {
    readonly parameters: readonly { readonly name: string; readonly in: string }[]
    readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: object } } }
  }
  const described = (method: string, path: string) => document.paths[path]?.[method] as Described
  const queryOf = ({ parameters }: Described) =>
    parameters.filter((one) => one.in === 'query').map(({ name }) => name)

  test('a purchase takes service_id and brief from the query, and a registration pay', () => {
    const pay = described('post', '/api/x402/pay')
    expect(queryOf(pay)).toEqual(expect.arrayContaining(['service_id', 'brief']))
    const { schema } = pay.requestBody.content['application/json']
    expect(ajv.compile({ ...schema, components: undefined })({ brief: 'Do it.' })).toBe(true)
    expect(queryOf(described('post', '/api/agents/register'))).toContain('pay')
  })

  test('no query parameter is an object, and the webhook of an accepted bounty names its order', () => {
    expect(queryOf(described('get', '/api/x402/discover'))).not.toContain('requirements')
    const { example } =
      document.webhooks['bounty.accepted']?.post.requestBody.content['application/json'] ?? {}
    expect(example).toMatchObject({ order_id: expect.stringMatching(/^ord_/) })
  })

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
