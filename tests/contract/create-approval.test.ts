import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { loginBefore, operatorToken, proposeAs } from '../support/operator.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER, FEE_ADDRESS } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import {
  auditOf,
  bringFees,
  CHECKSUMMED,
  finalizeTransfers,
  MISTYPED,
  makeClaimed,
  makeFailed,
  makePayout,
  makeUnmatched,
  NETWORK,
  someHash,
} from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/approvals'
const REASON = 'The payee lost the wallet'
const NO_PAYOUT = `pay_${'0'.repeat(32)}`

let world: OrderWorld
let market: Market
let bearer: string
beforeAll(async () => {
  world = await startOrderWorld()
  market = world.market
  bearer = await operatorToken(market)
})
afterAll(() => world.stop())

const bodyFor = (payoutId: string, payee = CHECKSUMMED) => ({
  kind: 'redirect_payout',
  payload: { payout_id: payoutId, payee },
  reason: REASON,
})
const post = (body: object, credential = bearer) => market.client().post(PATH, body, { bearer: credential })

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.createApproval,
  good: async () => {
    spare = (await makeFailed(market.db)).id
    return { path: PATH, body: bodyFor((await makeFailed(market.db)).id), ask: { bearer } }
  },
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, body: bodyFor(spare) }) })
rejectsWithoutProvider(subject, PATH, bodyFor(NO_PAYOUT))

const payoutOf = (id: string) =>
  market.db.selectFrom('payouts').select(['state', 'payee']).where('id', '=', id).executeTakeFirstOrThrow()

test('201: stores the proposal for 24 hours and moves nothing', async () => {
  const { id, payee } = await makeFailed(market.db)
  const { status, body } = await post(bodyFor(id))
  expect(status).toBe(201)
  const { created_at, expires_at } = body.data
  expect(body).toEqual({
    success: true,
    data: {
      id: expect.stringMatching(/^apr_\d+_[0-9a-z]{17}$/),
      kind: 'redirect_payout',
      payload: { payout_id: id, payee: CHECKSUMMED },
      subject: id,
      summary: `pay 5.00 USDC of payout ${id} to ${CHECKSUMMED.toLowerCase()} on ${NETWORK} instead of ${payee}`,
      reason: REASON,
      state: 'pending',
      proposer: `user:${ADMIN_USER}`,
      approver: null,
      rejected_by: null,
      created_at: expect.stringMatching(INSTANT),
      expires_at: expect.stringMatching(INSTANT),
      decided_at: null,
    },
  })
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(86_400_000)
  expect(await payoutOf(id)).toEqual({ state: 'failed', payee })
  expect(await auditOf(market.db, id)).toEqual([
    {
      act: 'approval.proposed',
      actor: `user:${ADMIN_USER}`,
      details: {
        approval: body.data.id,
        kind: 'redirect_payout',
        payload: { payout_id: id, payee: CHECKSUMMED },
        proposer: `user:${ADMIN_USER}`,
        reason: REASON,
      },
    },
  ])
})

test('201: notifies the buyer and the owner of the agent of a proposed resolution', async () => {
  const parties = await world.newParties()
  const id = await world.walk(parties, 'disputed')
  const payload = { order_id: id, outcome: 'split', agent_share_bps: 2_500, note: 'A part was delivered.' }
  expect((await proposeAs(market, 'resolve_dispute', payload)).status).toBe(201)
  const told = await market.db
    .selectFrom('notifications')
    .select(['recipient', 'body'])
    .where('kind', '=', 'approval.proposed')
    .where('body', 'like', `%${id}%`)
    .execute()
  expect(told.map(({ recipient }) => recipient).toSorted()).toEqual(
    [parties.buyer.address, parties.seller.owner.address]
      .map((address) => `wallet:${address.toLowerCase()}`)
      .toSorted(),
  )
  expect(told[0]?.body).toContain('by split with 25 % for the agent')
})

test('400: an unknown kind, and payloads that do not match their kind', async () => {
  invalid(await post({}), 'kind', 'payload', 'reason')
  invalid(await post({ ...bodyFor(NO_PAYOUT), kind: 'burn' }), 'kind')
  invalid(await post({ ...bodyFor(NO_PAYOUT), payload: 'all' }), 'payload')
  invalid(
    await post({ ...bodyFor(NO_PAYOUT), payload: { payout_id: 'pay_0', payee: 'me' } }),
    'payload.payout_id',
    'payload.payee',
  )
  const more = { ...bodyFor(NO_PAYOUT).payload, amount_usd: '5.00' }
  invalid(await post({ ...bodyFor(NO_PAYOUT), payload: more }), 'payload')
  const split = { order_id: NO_ORDER, outcome: 'split', note: 'Both were heard.' }
  invalid(await proposeAs(market, 'resolve_dispute', split), 'payload.agent_share_bps')
})

test('400: a payee with a typo, of another chain or of nobody', async () => {
  const { id } = await makeFailed(market.db)
  const { reference } = await makeUnmatched(market.db, { payer: null })
  const unmatched_id = `suspense:${NETWORK}:${reference}`
  const wrong = [MISTYPED, CHECKSUMMED.toLowerCase(), (await solanaSigner()).address, `0x${'0'.repeat(40)}`]
  for (const payee of wrong) {
    invalid(await post(bodyFor(id, payee)), 'payload.payee')
    invalid(await proposeAs(market, 'refund_unmatched', { unmatched_id, payee }), 'payload.payee')
  }
})

test('409: fees to an address that is not in the configuration, and more than what is final', async () => {
  await finalizeTransfers(market.db)
  await bringFees(market.db, 10_000_000n)
  const withdraw = (amount_usd: string, payee = FEE_ADDRESS) =>
    proposeAs(market, 'withdraw_fees', { network: NETWORK, amount_usd, payee })
  rejected(await withdraw('1.00', CHECKSUMMED), 409, 'not_our_wallet')
  rejected(await withdraw('1000000.00'), 409, 'fees_too_low')
  expect((await withdraw('10.00')).status).toBe(201)
  // A payment that the chain can still reverse takes its fee back, so that much stays.
  const { reference } = await makeClaimed(market.db, { due: 400_000_000_000n, paid: 400_000_000_000n })
  const unfinal = { state: 'seen' }
  await market.db.updateTable('transfers').set(unfinal).where('reference', '=', reference).execute()
  rejected(await withdraw('10.00'), 409, 'fees_too_low')
})

test('409: fees and a refund below the minimum payout', async () => {
  await finalizeTransfers(market.db)
  await bringFees(market.db, 10_000_000n)
  const { reference } = await makeUnmatched(market.db, { amount: 49_999n })
  const part = { network: NETWORK, amount_usd: '0.049999' }
  rejected(await proposeAs(market, 'withdraw_fees', { ...part, payee: FEE_ADDRESS }), 409, 'below_minimum')
  const refund = { unmatched_id: `suspense:${NETWORK}:${reference}`, payee: CHECKSUMMED }
  rejected(await proposeAs(market, 'refund_unmatched', refund), 409, 'below_minimum')
})

test('401: a login that is older than 15 minutes, or of which the token does not say when it was', async () => {
  const { id } = await makeFailed(market.db)
  expect((await post(bodyFor(id), loginBefore(market, 840))).status).toBe(201)
  const stale = await post(bodyFor(id), loginBefore(market, 960))
  rejected(stale, 401, 'login_too_old')
  expect(stale.body.error).toContain('yours is 16 minutes old. Sign in again')
  rejected(await post(bodyFor(id), loginBefore(market, Number.NaN)), 401, 'login_too_old')
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { id } = await makeFailed(market.db)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey])
    rejected(await post(bodyFor(id), credential), 403, 'wrong_credential')
})

test('404: an unknown payout, order or transfer', async () => {
  rejected(await post(bodyFor(NO_PAYOUT)), 404, 'not_found')
  const verdict = { order_id: NO_ORDER, outcome: 'refund', note: 'Both were heard.' }
  rejected(await proposeAs(market, 'resolve_dispute', verdict), 404, 'order_not_found')
  const refund = { unmatched_id: `suspense:${NETWORK}:${someHash()}`, payee: evmSigner().address }
  rejected(await proposeAs(market, 'refund_unmatched', refund), 404, 'not_found')
})

test('409: a payout that has not failed, one that no cap holds, and unmatched money that is not there', async () => {
  const { id } = await makePayout(market.db)
  rejected(await proposeAs(market, 'approve_payout', { payout_id: id }), 409, 'conflict')
  rejected(await post(bodyFor((await makePayout(market.db)).id)), 409, 'conflict')
  const { reference } = await makeUnmatched(market.db)
  const refund = { unmatched_id: `surplus:${NETWORK}:${reference}`, payee: CHECKSUMMED }
  rejected(await proposeAs(market, 'refund_unmatched', refund), 409, 'conflict')
})
