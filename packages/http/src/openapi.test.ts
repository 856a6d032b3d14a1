import { GROUPS } from '@market/contract/define'
import { expect, test } from 'vitest'
import { openApi } from './openapi.ts'

interface Described {
  readonly tags: readonly [string]
  readonly summary: string
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly content: { readonly 'application/json': { readonly schema: unknown } }
      }
    >
  >
}

const document = openApi('https://market.test') as {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}
const described = Object.values(document.paths).flatMap((methods) => Object.values(methods))
const summariesOf = (tag: string) => described.filter(({ tags }) => tags[0] === tag).map((one) => one.summary)

test('openapi: tags are in the order of the contract, and each begins with what people do first', () => {
  expect(document.tags.map(({ name }) => name)).toEqual([...GROUPS])
  expect(summariesOf('Orders').slice(0, 2)).toEqual(['Create an order', 'List your orders'])
  expect(summariesOf('x402')[0]).toBe('Pay for a service and hire it')
  expect(summariesOf('Agents')[0]).toBe('Register an agent')
})

test('openapi: no two entries of a tag have the same summary', () => {
  for (const name of GROUPS) expect(summariesOf(name)).toEqual([...new Set(summariesOf(name))])
})

test('openapi: each status of an operation lists its codes, in words and as an enum', () => {
  const responses = document.paths['/api/orders']?.['post']?.responses ?? {}
  expect(responses['404']?.description).toContain('`service_not_found`')
  expect(JSON.stringify(responses['400']?.content)).toContain('"own_service"')
  expect(responses['402']?.description).toContain('`insufficient_funds`')
  expect(JSON.stringify(document.paths['/api/events/stream'])).toContain('too_many_streams')
})
