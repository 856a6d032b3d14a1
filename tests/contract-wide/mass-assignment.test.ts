import { isWrite, type Operation } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fingerprintOfDatabase } from '../support/database-fingerprint.ts'
import { type Market, startMarket } from '../support/market.ts'
import { requestOf } from '../support/operation-request.ts'
import { inputSchemaOf, plainInput, type Schema } from '../support/schema-arbitraries.ts'
import { acceptedPrincipal, credentialOf, makeWorld, type World } from './authorization-fixture.ts'
import { resourcesOf } from './authorization-resources.ts'

let market: Market
let world: World
beforeAll(async () => {
  market = await startMarket()
  world = await makeWorld(market)
})
afterAll(() => market.stop())

/** As many unknown fields as a response names. */
const NAMED_AT_ONCE = 5

/** Credential fields are removed from the body before it is parsed. */
const CREDENTIALS = new Set(['wallet', 'wallet_sig', 'wallet_sig_ts', 'wallet_chain', 'idp_access_token'])

function fieldsIn(schema: Schema): string[] {
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]
  const own = Object.entries(schema.properties ?? {})
  return [...own.flatMap(([name, field]) => [name, ...fieldsIn(field)]), ...inner.flatMap(fieldsIn)]
}

const outputFields = operationList.flatMap((operation) =>
  fieldsIn(operation.output.toJSONSchema({ io: 'output' }) as Schema),
)

/** A careless spread could set any column, also one that no response contains. */
async function columns(): Promise<string[]> {
  const tables = await market.db.introspection.getTables()
  return tables.flatMap((table) => table.columns.map(({ name }) => name))
}

const allFields = async (): Promise<string[]> =>
  [...new Set([...outputFields, ...(await columns())])].filter((name) => !CREDENTIALS.has(name))

test('mass assignment: the tested fields include the sensitive columns', async () => {
  const tried = await allFields()
  for (const name of [
    'verified',
    'total_orders',
    'marketable',
    'owner_user_id',
    'id',
    'created_at',
    'featured_rank',
  ])
    expect(tried).toContain(name)
})

const unknownFieldsOf = (details: readonly { readonly message: string }[]): string[] =>
  details.flatMap(({ message }) => /^Unknown fields?: ([^.]+)/.exec(message)?.[1]?.split(', ') ?? [])

// A form has one file and no other field; `tests/files/hostile.test.ts` sends more.
const WRITES = operationList.filter((one) => isWrite(one) && !one.file)

/**
 * Requests per operation. The schema of each is tried with every field. With 5, two operations get each field at least: one of them
 * may know it.
 */
const REQUESTS = 5
const sent = new Set<string>()

/** The operations take turns: each continues in the list of all fields where the one before ended. */
function* groupsFor(operation: Operation, fields: readonly string[]): Generator<readonly string[]> {
  const groups = Math.ceil(fields.length / NAMED_AT_ONCE)
  for (let n = 0; n < REQUESTS; n++) {
    const first = ((WRITES.indexOf(operation) * REQUESTS + n) % groups) * NAMED_AT_ONCE
    yield fields.slice(first, first + NAMED_AT_ONCE)
  }
}

describe.each(WRITES)('$id', (operation) => {
  test('returns 400 for every response field or column that is not an input field, and changes nothing (asvs V1.1)', async () => {
    const known = new Set(Object.keys(inputSchemaOf(operation).properties ?? {}))
    const fields = await allFields()
    const extra = new Set(fields.filter((name) => !known.has(name)))
    const good = plainInput(operation, resourcesOf(world, operation))
    expect(operation.input.safeParse(good).error).toBeUndefined()
    const before = await fingerprintOfDatabase(market.db)
    const accepted = [...extra].filter((name) => operation.input.safeParse({ ...good, [name]: 1 }).success)
    expect(accepted).toEqual([])
    for (const group of groupsFor(operation, fields)) {
      const names = group.filter((name) => extra.has(name))
      if (names.length === 0) continue
      const input = { ...good, ...Object.fromEntries(names.map((name) => [name, 1])) }
      const { method, path, body } = requestOf(operation, input)
      const credential = await credentialOf(world, acceptedPrincipal(operation), operation, input)
      const reply = await market.client().send(method, path, { ...credential, ...(body && { body }) })
      expect([reply.status, reply.body.code, names]).toEqual([400, 'invalid_input', names])
      expect(unknownFieldsOf(reply.body.details ?? [])).toEqual(expect.arrayContaining(names))
      for (const name of names) sent.add(name)
    }
    expect(await fingerprintOfDatabase(market.db)).toEqual(before)
  })
})

test('mass assignment: together the requests had every field', async () => {
  expect((await allFields()).filter((name) => !sent.has(name))).toEqual([])
})
