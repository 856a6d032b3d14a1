import { operationList, operations } from '@market/contract/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Market } from '../support/market.ts'
import { requestOf } from '../support/operation-request.ts'
import { startPayableMarket } from '../support/payable-market.ts'
import { credentialOf, makeWorld, PRINCIPALS, type World } from './authorization-fixture.ts'
import { AUTHORISATION } from './authorization-table.ts'

let payable: Awaited<ReturnType<typeof startPayableMarket>>
let market: Market
let world: World
beforeAll(async () => {
  payable = await startPayableMarket()
  market = payable.market
  world = await makeWorld(market)
})
afterAll(() => payable.stop())

test('authorization table: its rows are exactly the operations of the contract', () => {
  expect(Object.keys(AUTHORISATION).sort()).toEqual(operationList.map(({ id }) => id).sort())
})

const rows = Object.entries(AUTHORISATION).flatMap(([id, situations]) =>
  situations.map((row) => ({ id: id as keyof typeof operations, ...row })),
)

test('authorization table: every operation has rows, and every row a response for every principal', () => {
  for (const situations of Object.values(AUTHORISATION)) expect(situations.length).toBeGreaterThan(0)
  for (const { answers } of rows) expect(Object.keys(answers).sort()).toEqual([...PRINCIPALS].sort())
})

test('authorization table: every operation accepts at least one principal', () => {
  for (const situations of Object.values(AUTHORISATION)) {
    const answers = situations.flatMap((row) => Object.values(row.answers))
    expect(answers.some((status) => status < 300 || status === 402)).toBe(true)
  }
})

describe.each(rows)('$id, $when', ({ id, input, answers }) => {
  test.each(PRINCIPALS)('returns the status of the table for %s', async (principal) => {
    const operation = operations[id]
    const asked = input(world)
    const { method, path, body } = requestOf(operation, asked)
    const credential = await credentialOf(world, principal, operation, asked)
    const reply = await market.client().send(method, path, { ...credential, ...(body && { body }) })
    expect({ status: reply.status, error: reply.body.error }).toMatchObject({ status: answers[principal] })
    // A 402 and a bare response have no envelope.
    if (reply.status !== 402 && !('isBare' in operation)) expect(reply.body.success).toBe(reply.status < 300)
  })
})
