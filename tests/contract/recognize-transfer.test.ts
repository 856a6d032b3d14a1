import { operations } from '@market/contract/operations'
import { balanceOf, fees, suspense } from '@market/money/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import type { Subject } from '../support/good-call.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-away.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { auditOf, balanceIn, makeClaimed, makeUnmatched, NETWORK, someHash } from '../support/treasury.ts'

const PATH = '/api/admin/transfers/recognize'
const REASON = 'The payer asked for it'

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
})
afterAll(() => market.stop())

const post = (body: unknown, path = PATH) => market.client().post(path, body, { bearer })

const bodyFor = (reference: string) => ({ network: NETWORK, reference, reason: REASON })

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.recognizeTransfer,
  good: async () => {
    spare = (await makeUnmatched(market.db)).reference
    return { path: PATH, body: bodyFor((await makeUnmatched(market.db)).reference), ask: { bearer } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, body: bodyFor(spare) }),
})
rejectsWithoutProvider(subject, PATH, bodyFor(someHash()))

const inFees = () => balanceOf(market.db, fees(NETWORK))
const inSuspense = (reference: string) => balanceIn(market.db, suspense(NETWORK, reference))

test('200: the platform’s own deposit becomes fees, and who said so is written down', async () => {
  const { reference } = await makeUnmatched(market.db, { amount: 7_000_001n })
  const before = await inFees()
  const { status, body } = await post(bodyFor(reference))
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: { network: NETWORK, reference, recognized_usd: '7.000001' } })
  expect(await inFees()).toBe(before + 7_000_001n)
  expect(await inSuspense(reference)).toBe(0n)
  expect(await auditOf(market.db, reference)).toEqual([
    {
      act: 'transfer.recognized',
      actor: `user:${ADMIN_USER}`,
      details: { reason: REASON, network: NETWORK, amount_usd: '7.000001' },
    },
  ])
})

test('400: missing or invalid fields', async () => {
  invalid(await post({}), 'network', 'reference', 'reason')
  invalid(await post({ network: 'base', reference: '0x12', reason: 'no' }), 'network', 'reference', 'reason')
  invalid(await post({ ...bodyFor(someHash()), amount: '1.00' }), '')
})

test('403: an operator’s key, a user who is not an operator, and an agent', async () => {
  const { reference } = await makeUnmatched(market.db)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey]) {
    const reply = await market.client().post(PATH, bodyFor(reference), { bearer: credential })
    rejected(reply, 403, 'wrong_credential')
  }
  expect(await inSuspense(reference)).toBe(5_000_000n)
})

test('404: an unknown transfer', async () => {
  rejected(await post(bodyFor(someHash())), 404, 'not_found')
})

test('409: one that may still be undone, one kept before, and what others paid beside a claimed payment', async () => {
  const seen = await makeUnmatched(market.db, { state: 'seen' })
  rejected(await post(bodyFor(seen.reference)), 409, 'conflict')
  expect(await inSuspense(seen.reference)).toBe(5_000_000n)
  const kept = await makeUnmatched(market.db)
  expect((await post(bodyFor(kept.reference))).status).toBe(200)
  rejected(await post(bodyFor(kept.reference)), 409, 'conflict')
  const claimed = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n, beside: 70_000n })
  rejected(await post(bodyFor(claimed.reference)), 409, 'conflict')
  expect(await inSuspense(claimed.reference)).toBe(70_000n)
})
