import type { Operation } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { fingerprintOfDatabase } from '../support/database-fingerprint.ts'
import { FORBIDDEN_TEXTS, jsonText } from '../support/hostile-values.ts'
import { type Market, startMarket } from '../support/market.ts'
import { requestOf } from '../support/operation-request.ts'
import { inputSchemaOf, plainInput, type Schema } from '../support/schema-arbitraries.ts'
import { type Wire, wire } from '../support/wire-request.ts'
import { acceptedPrincipal, credentialOf, makeWorld, type World } from './authorization-fixture.ts'
import { resourcesOf } from './authorization-resources.ts'

let market: Market
let world: World
let sender: Wire
beforeAll(async () => {
  market = await startMarket()
  world = await makeWorld(market)
  sender = wire(market.url)
})
afterAll(async () => {
  sender.stop()
  await market.stop()
})

async function ask(operation: Operation, input: Readonly<Record<string, unknown>>) {
  const { method, path, body } = requestOf(operation, input)
  if (path.length > LONGEST_URL || (hasLoneSurrogate(path) && path.includes('?'))) return undefined
  const shown = await credentialOf(world, acceptedPrincipal(operation), operation, input)
  return sender.send({
    method,
    path,
    headers: {
      'x-forwarded-for': someAddress(),
      ...(shown.bearer !== undefined && { authorization: `Bearer ${shown.bearer}` }),
      ...shown.headers,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: jsonText(body) }),
  })
}

/** Not for URLs, because the header limit rejects 100 KB. */
const LONGEST_URL = 12_000

/** Not for queries, because bytes that are not UTF-8 stay percent-encoded. */
const hasLoneSurrogate = (path: string): boolean => /%ed%[ab]/i.test(path)

type Put = (text: string) => unknown

/** Functions that put a text into each text position of a field. */
function placesIn(schema: Schema): Put[] {
  if (schema.type === 'string') return [(text) => text]
  const inItems =
    schema.items === undefined
      ? []
      : placesIn(schema.items).map(
          (put): Put =>
            (text) => [put(text)],
        )
  const inFields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    placesIn(field).map(
      (put): Put =>
        (text) => ({ [name]: put(text) }),
    ),
  )
  const inBranches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(placesIn)
  return [...inItems, ...inFields, ...inBranches]
}

const textFieldsOf = (operation: Operation) =>
  Object.entries(inputSchemaOf(operation).properties ?? {}).flatMap(([field, schema]) =>
    placesIn(schema).map((put) => ({ field, put, around: isUrl(schema) ? inUrl : inWords })),
  )

/** Everything but the hostile part is valid. */
const inUrl = (hostile: string): string => `https://hooks.example/${hostile}/in`
const inWords = (hostile: string): string => `Some words${hostile} and more`
const isUrl = (schema: Schema): boolean =>
  schema.format === 'uri' || (schema.anyOf ?? []).some((branch) => isUrl(branch))

const withText = operationList.filter((operation) => textFieldsOf(operation).length > 0)

test.each(withText)(
  '$id: returns 400 and changes nothing for hostile text in any field',
  async (operation) => {
    const good = plainInput(operation, resourcesOf(world, operation))
    const before = await fingerprintOfDatabase(market.db)
    for (const { field, put, around } of textFieldsOf(operation)) {
      const responses = await Promise.all(
        Object.entries(FORBIDDEN_TEXTS).map(async ([name, hostile]) => {
          const response = await ask(operation, { ...good, [field]: put(around(hostile)) })
          return { field, name, status: response?.status ?? 'not sent', text: response?.text }
        }),
      )
      for (const { name, status, text } of responses) {
        if (status === 'not sent') continue
        expect({ field, name, status, text }).toMatchObject({ field, name, status: 400 })
        expect(JSON.parse(text ?? '')).toMatchObject({ success: false })
      }
      expect(responses.filter(({ status }) => status === 400).length).toBeGreaterThan(10)
    }
    expect(await fingerprintOfDatabase(market.db)).toEqual(before)
  },
)
