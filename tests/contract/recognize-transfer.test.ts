import { operations } from '@market/contract/operations'
import { balanceOf, fees, suspense } from '@market/money/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { approveAs, loginBefore, operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER, OWN_WALLET, SECOND_ADMIN_USER } from '../support/settings.ts'
import {
  auditOf,
  balanceIn,
  makeClaimed,
  makeUnmatched,
  NETWORK,
  someHash,
  someKey,
} from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const idOf = (reference: string) => `suspense:${NETWORK}:${reference}`
const pathFor = (id: string) => `/api/admin/unmatched-transfers/${id}/recognize-revenue`
const pathOf = (reference: string) => pathFor(idOf(reference))
const BODY = { reason: 'It is our deposit' }

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
})
afterAll(() => market.stop())

const propose = (reference: string) => market.client().post(pathOf(reference), BODY, { bearer })
const makeDeposit = (amount = 5_000_000n) => makeUnmatched(market.db, { payer: OWN_WALLET, amount })

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.recognizeTransfer,
  good: async () => {
    spare = (await makeDeposit()).reference
    return { path: pathOf((await makeDeposit()).reference), body: BODY, ask: { bearer } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, path: pathOf(spare) }),
})
rejectsWithoutProvider(subject, pathOf(someHash()), BODY)

const inFees = () => balanceOf(market.db, fees(NETWORK))
const inSuspense = (reference: string) => balanceIn(market.db, suspense(NETWORK, reference))

test('201: one operator proposes, nothing moves; another approves, and the deposit becomes fees', async () => {
  const { reference } = await makeDeposit(7_000_001n)
  const before = await inFees()
  const { status, body } = await propose(reference)
  expect(status).toBe(201)
  expect(body.data).toMatchObject({
    kind: 'recognize_revenue',
    payload: { unmatched_id: idOf(reference) },
    subject: idOf(reference),
    state: 'pending',
    proposer: `user:${ADMIN_USER}`,
  })
  expect(body.data.summary).toContain('7.000001 USDC')
  expect(await inSuspense(reference)).toBe(7_000_001n)
  expect((await approveAs(market, body.data.id)).status).toBe(200)
  expect(await inFees()).toBe(before + 7_000_001n)
  expect(await inSuspense(reference)).toBe(0n)
  expect(await auditOf(market.db, reference)).toEqual([
    {
      act: 'transfer.recognized',
      actor: `user:${SECOND_ADMIN_USER}`,
      details: { approval: body.data.id, network: NETWORK, amount_usd: '7.000001' },
    },
  ])
})

test('400: missing or invalid fields', async () => {
  const post = (id: string, body: object) => market.client().post(pathFor(id), body, { bearer })
  invalid(await post(idOf(someHash()), {}), 'reason')
  for (const id of ['suspense:base-mainnet:0x12', `escrow:${NETWORK}:${someHash()}`, someHash()])
    invalid(await post(id, { reason: 'no' }), 'unmatched_id', 'reason')
})

test('401: a login that is older than 15 minutes (asvs V6.3)', async () => {
  const { reference } = await makeDeposit()
  const stale = await market.client().post(pathOf(reference), BODY, { bearer: loginBefore(market, 901) })
  rejected(stale, 401, 'login_too_old')
})

test('403: an admin key, a user who is not an operator, and an agent (asvs V6.3)', async () => {
  const { reference } = await makeDeposit()
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey]) {
    const reply = await market.client().post(pathOf(reference), BODY, { bearer: credential })
    rejected(reply, 403, 'wrong_credential')
  }
  expect(await inSuspense(reference)).toBe(5_000_000n)
})

test('404: an unknown transfer', async () => {
  rejected(await propose(someHash()), 404, 'not_found')
})

test('409: a transfer that is not final, was recognized, or has money of others beside a claimed payment', async () => {
  const seen = await makeUnmatched(market.db, { state: 'seen', payer: OWN_WALLET })
  rejected(await propose(seen.reference), 409, 'conflict')
  const recognized = await makeDeposit()
  expect((await approveAs(market, (await propose(recognized.reference)).body.data.id)).status).toBe(200)
  rejected(await propose(recognized.reference), 409, 'conflict')
  const claimed = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n, beside: 70_000n })
  rejected(await propose(claimed.reference), 409, 'conflict')
  expect(await inSuspense(claimed.reference)).toBe(70_000n)
})

test('409: a transfer of a customer: its payer is not in the list of the platform’s wallets', async () => {
  for (const payer of [someKey(), null]) {
    const { reference } = await makeUnmatched(market.db, { payer })
    rejected(await propose(reference), 409, 'not_our_wallet')
    expect(await inSuspense(reference)).toBe(5_000_000n)
  }
})
