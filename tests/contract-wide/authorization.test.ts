import type { Operation } from '@market/contract/define'
import { operationList, operations } from '@market/contract/operations'
import { PURPOSE_KINDS } from '@market/core/ports/signature-purposes'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asHeaders, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { requestOf } from '../support/operation-request.ts'
import { isServed } from '../support/valid-request.ts'
import { credentialOf, makeWorld, PRINCIPALS, purposeOf, type World } from './authorization-fixture.ts'
import { AUTHORISATION } from './authorization-table.ts'

let market: Market
let world: World
beforeAll(async () => {
  market = await startMarket({}, { chains: ['base-mainnet', 'solana-mainnet'] })
  world = await makeWorld(market)
})
afterAll(() => market.stop())

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
  for (const operation of operationList) {
    const situations = AUTHORISATION[operation.id as keyof typeof operations]
    const answers = situations.flatMap((row) => Object.values(row.answers))
    expect(answers.some((status) => status === 402 || isServed(operation, status))).toBe(true)
  }
})

/** With the same values as the purpose that the request expects, where it has any. */
const forAnother = (kind: string, expected: string) =>
  kind === 'session' ? kind : `${kind}:${expected.split(':').slice(1).join(':') || 'x'}`

/** Kinds that every operation tries beside the near ones. */
const FAR_KINDS = 4
const areaOf = (purpose: string) => purpose.split(/[.:]/, 1)[0]

/** A session, the kinds of the same area, and some others. */
function kindsFor(operation: Operation, expected: string): string[] {
  const kinds = PURPOSE_KINDS.filter((kind) => kind !== expected.split(':', 1)[0])
  const first = operationList.indexOf(operation) * FAR_KINDS
  const far = Array.from({ length: FAR_KINDS }, (_, n) => kinds[(first + n) % kinds.length] ?? '')
  const near = kinds.filter((kind) => kind === 'session' || areaOf(kind) === areaOf(expected))
  return [...new Set([...near, ...far])]
}

describe('a signature for another purpose', () => {
  const tried = new Set<string>()
  test.each(operationList)(
    '$id: is rejected with the expected purpose, or ignored where no signature counts (asvs V6.2)',
    async (operation) => {
      const [row] = AUTHORISATION[operation.id as keyof typeof operations]
      const orders = { ...world.orders, toQuote: [...world.orders.toQuote] }
      const workspace = { ...world.workspace, toAnswer: [...world.workspace.toAnswer] }
      const bounties = { ...world.bounties, toCancel: [...world.bounties.toCancel] }
      const input = row?.input({ ...world, orders, workspace, bounties }) ?? {}
      const { method, path, body } = requestOf(operation, input)
      const expected = purposeOf(operation, input)
      const signer = await solanaSigner()
      const ignoresWallets = operation.callers.includes('anonymous') && !operation.callers.includes('wallet')
      const answer = ignoresWallets
        ? { status: row?.answers.anonymous, purpose: undefined }
        : { status: 401, purpose: expected }
      for (const kind of kindsFor(operation, expected)) {
        const proof = await signed(signer, forAnother(kind, expected), market.wallTime())
        const reply = await market
          .client()
          .send(method, path, { headers: asHeaders(proof), ...(body && { body }) })
        const shown = { status: reply.status, purpose: reply.body['expected_purpose'] }
        expect({ kind, ...shown }).toEqual({ kind, ...answer })
        tried.add(kind)
      }
    },
  )

  test('together the operations try every kind', () => {
    expect([...tried].toSorted()).toEqual([...PURPOSE_KINDS].toSorted())
  })
})

describe.each(rows)('$id, $when', ({ id, input, answers }) => {
  test.each(PRINCIPALS)('returns the status of the table for %s (asvs V8.1)', async (principal) => {
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
