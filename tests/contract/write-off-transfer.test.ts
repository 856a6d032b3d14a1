import { operations } from '@market/contract/operations'
import { balanceOf, fees } from '@market/money/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import {
  auditOf,
  bringFees,
  makeFailed,
  makeOutgoingTransfer,
  makePayout,
  NETWORK,
  someHash,
} from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const idOf = (reference: string) => `${NETWORK}:${reference}`
const pathOf = (reference: string) => `/api/admin/outgoing-transfers/${idOf(reference)}/write-off`
const REASON = 'The payer asked for it'

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
})
afterAll(() => market.stop())

const BODY = { reason: REASON }
const writeOff = (reference: string) => market.client().post(pathOf(reference), BODY, { bearer })

/** An unexplained outgoing transfer, and fees that cover it. */
const makeLoss = async () => {
  await bringFees(market.db, 5_000_000n)
  return makeOutgoingTransfer(market.db)
}

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.writeOffTransfer,
  good: async () => {
    spare = (await makeLoss()).reference
    return { path: pathOf((await makeLoss()).reference), body: BODY, ask: { bearer } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, path: pathOf(spare) }),
})
rejectsWithoutProvider(subject, pathOf(someHash()), BODY)

const inFees = () => balanceOf(market.db, fees(NETWORK))

test('200: charges the loss to the fees once, and records the operator', async () => {
  const { reference, payee } = await makeLoss()
  const before = await inFees()
  const { status, body } = await writeOff(reference)
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: {
      id: idOf(reference),
      network: NETWORK,
      reference,
      payout_id: null,
      payee,
      amount_usd: '5.00',
      happened_at: expect.stringMatching(INSTANT),
      written_off_at: expect.stringMatching(INSTANT),
    },
  })
  expect((await writeOff(reference)).body).toEqual(body)
  expect(await inFees()).toBe(before - 5_000_000n)
  const entry = {
    act: 'transfer.written_off',
    actor: `user:${ADMIN_USER}`,
    details: { reason: REASON, network: NETWORK, payout: null, amount_usd: '5.00' },
  }
  expect(await auditOf(market.db, reference)).toEqual([entry, entry])
  const unexplained = await market.client().get('/api/admin/outgoing-transfers?limit=100', { bearer })
  expect(unexplained.body.data).not.toContainEqual(expect.objectContaining({ reference }))
})

test('200: a transfer with the id of a waiting payout and another payee', async () => {
  await bringFees(market.db, 5_000_000n)
  const before = await inFees()
  const payoutId = (await makePayout(market.db)).id
  const { reference } = await makeOutgoingTransfer(market.db, { payoutId })
  const { status, body } = await writeOff(reference)
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ reference, payout_id: payoutId })
  expect(await inFees()).toBe(before - 5_000_000n)
})

test('200: one payment of a transaction, and not the others of it', async () => {
  await bringFees(market.db, 12_000_000n)
  const before = await inFees()
  const { reference } = await makeLoss()
  const second = await makeOutgoingTransfer(market.db, { reference, index: 1, amount: 7_000_000n })
  const { status, body } = await writeOff(`${reference}.1`)
  expect(status).toBe(200)
  const id = `${idOf(reference)}.1`
  expect(body.data).toMatchObject({ id, reference, payee: second.payee, amount_usd: '7.00' })
  expect((await writeOff(`${reference}.1`)).body).toEqual(body)
  expect(await inFees()).toBe(before + 5_000_000n - 7_000_000n)
  const list = async () => {
    const { data } = (await market.client().get('/api/admin/outgoing-transfers?limit=100', { bearer })).body
    return data.map((one: { id: string }) => one.id)
  }
  expect(await list()).toContain(idOf(reference))
  expect(await list()).not.toContain(id)
  expect((await writeOff(reference)).status).toBe(200)
  expect(await inFees()).toBe(before + 5_000_000n - 12_000_000n)
  rejected(await writeOff(`${reference}.2`), 404, 'not_found')
})

test('400: missing or invalid fields', async () => {
  const post = (id: string, body: object) =>
    market.client().post(`/api/admin/outgoing-transfers/${id}/write-off`, body, { bearer })
  invalid(await post(idOf(someHash()), {}), 'reason')
  const invalidIndexes = ['.0', '.01', '.x', '.'].map((index) => `${idOf(someHash())}${index}`)
  for (const id of ['base-mainnet:0x12', `base:${someHash()}`, someHash(), ...invalidIndexes])
    invalid(await post(id, { reason: 'no' }), 'transfer_id', 'reason')
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { reference } = await makeLoss()
  const before = await inFees()
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey]) {
    const reply = await market.client().post(pathOf(reference), BODY, { bearer: credential })
    rejected(reply, 403, 'wrong_credential')
  }
  expect(await inFees()).toBe(before)
})

test('404: an unknown payment', async () => {
  rejected(await writeOff(someHash()), 404, 'not_found')
})

test('409: a transfer that is not final, one whose payout settles it, and one above the fees', async () => {
  const before = await inFees()
  const unsure = await makeOutgoingTransfer(market.db, { isFinal: false })
  const queued = await makePayout(market.db)
  const ofQueued = await makeOutgoingTransfer(market.db, { payoutId: queued.id, payee: queued.payee })
  const ofFailed = await makeOutgoingTransfer(market.db, { payoutId: (await makeFailed(market.db)).id })
  const tooMuch = await makeOutgoingTransfer(market.db, { amount: before + 1n })
  for (const { reference } of [unsure, ofQueued, ofFailed, tooMuch]) {
    rejected(await writeOff(reference), 409, 'conflict')
    expect(await auditOf(market.db, reference)).toEqual([])
  }
  expect(await inFees()).toBe(before)
})
