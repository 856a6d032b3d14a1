import { operations } from '@market/contract/operations'
import { HOUR } from '@market/kernel/clock'
import { formatUsd, usdc } from '@market/kernel/money'
import { balanceOf, fees, payable, suspense } from '@market/money/ledger'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import { evmSigner } from '@market/testing/evm-signer'
import { marketContext } from '@market/testing/market-context'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import {
  approveAs,
  decideByTwo,
  loginBefore,
  operatorToken,
  proposeAs,
  secondOperatorToken,
} from '../support/operator.ts'
import { termsOf } from '../support/payout-kinds.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER, FEE_ADDRESS, SECOND_ADMIN_USER } from '../support/settings.ts'
import {
  AMOUNT,
  auditOf,
  balanceIn,
  bringFees,
  CHECKSUMMED,
  finalizeTransfers,
  makeClaimed,
  makeFailed,
  makePayout,
  makeUnmatched,
  NETWORK,
  raisePrice,
} from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/admin/approvals/${id}/approve`
const NO_APPROVAL = `apr_1700000000000_${'0'.repeat(17)}`

let world: OrderWorld
let market: Market
let bearer: string
beforeAll(async () => {
  world = await startOrderWorld()
  market = world.market
  bearer = await secondOperatorToken(market)
})
afterAll(() => world.stop())

const idOf = ({ body }: Awaited<ReturnType<typeof proposeAs>>): string => body.data.id

const redirection = (payoutId: string, payee = CHECKSUMMED) => ({ payout_id: payoutId, payee })

/** A failed payout that the first operator proposes to send elsewhere. */
async function makeProposal() {
  const payout = await makeFailed(market.db)
  return { payout, id: idOf(await proposeAs(market, 'redirect_payout', redirection(payout.id))) }
}

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.approveApproval,
  good: async () => {
    spare = (await makeProposal()).id
    return { path: pathOf((await makeProposal()).id), body: {}, ask: { bearer } }
  },
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, path: pathOf(spare) }) })
rejectsWithoutProvider(subject, pathOf(NO_APPROVAL), {})

const payoutOf = (id: string) =>
  market.db
    .selectFrom('payouts')
    .select(['state', 'payee', 'round'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

const notified = async (recipient: string) =>
  (
    await market.db.selectFrom('notifications').select('kind').where('recipient', '=', recipient).execute()
  ).map(({ kind }) => kind)

test('200: a failed payout goes to the other payee; both operators are in the audit log', async () => {
  const { payout, id } = await makeProposal()
  const { status, body } = await approveAs(market, id)
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    id,
    state: 'approved',
    proposer: `user:${ADMIN_USER}`,
    approver: `user:${SECOND_ADMIN_USER}`,
    rejected_by: null,
    decided_at: expect.any(String),
  })
  const payee = CHECKSUMMED.toLowerCase()
  expect(await payoutOf(payout.id)).toEqual({ state: 'queued', payee, round: 2 })
  expect(await balanceIn(market.db, payable(NETWORK, payout.id))).toBe(AMOUNT)
  expect((await auditOf(market.db, payout.id)).map(({ act, actor }) => [act, actor])).toEqual([
    ['approval.proposed', `user:${ADMIN_USER}`],
    ['payout.redirected', `user:${SECOND_ADMIN_USER}`],
    ['approval.approved', `user:${SECOND_ADMIN_USER}`],
  ])
  expect((await auditOf(market.db, payout.id))[1]?.details).toMatchObject({
    approval: id,
    payee,
    payee_before: payout.payee,
  })
  expect(await notified(`wallet:${payout.payee}`)).toEqual(['approval.proposed', 'approval.approved'])
})

/** Where the worker may send a payout. */
const payeesOf = (id: string) => {
  const ctx = marketContext({ db: market.db })
  return ctx.transact(async (tx) => {
    const row = await tx.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const payout = await findPayoutOf(tx, row.kind as Payout['kind'], row.subject)
    return payout && (await termsOf(ctx, tx, payout))?.payees
  })
}

test('200: notifies the owner of the agent whose payout goes to another payee', async () => {
  const parties = await world.newParties()
  const orderId = await world.walk(parties, 'completed')
  const { id } = await market.db
    .updateTable('payouts')
    .set({ state: 'failed', reason: 'The payee is blocked by the token' })
    .where('subject', '=', orderId)
    .where('kind', '=', 'payout')
    .returning('id')
    .executeTakeFirstOrThrow()
  expect(await payeesOf(id)).not.toContain(CHECKSUMMED)
  expect((await decideByTwo(market, 'redirect_payout', redirection(id))).status).toBe(200)
  // The worker signs only for a payee that the order or an approval requires.
  expect(await payeesOf(id)).toContain(CHECKSUMMED)
  const owner = `wallet:${parties.seller.owner.address.toLowerCase()}`
  expect(await notified(owner)).toEqual(expect.arrayContaining(['approval.proposed', 'approval.approved']))
})

test('200: a payout without an address gets one, on Solana too', async () => {
  const { id } = await makeFailed(market.db, { payee: null, network: 'solana-mainnet' })
  const { address } = await solanaSigner()
  expect((await decideByTwo(market, 'redirect_payout', redirection(id, address))).status).toBe(200)
  expect(await payoutOf(id)).toMatchObject({ state: 'queued', payee: address })
})

test('200: unmatched money goes to the approved address, whether its payer is known or not', async () => {
  const beside = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n, beside: 70_000n })
  const unknown = await makeUnmatched(market.db, { payer: null })
  const exchange = await makeUnmatched(market.db)
  for (const { reference } of [beside, unknown, exchange]) {
    const { address } = evmSigner()
    const inSuspense = suspense(NETWORK, reference)
    const amount = await balanceIn(market.db, inSuspense)
    const unmatched_id = `suspense:${NETWORK}:${reference}`
    const { status } = await decideByTwo(market, 'refund_unmatched', { unmatched_id, payee: address })
    expect(status).toBe(200)
    expect(await balanceIn(market.db, inSuspense)).toBe(0n)
    const payout = await market.db
      .selectFrom('payouts')
      .select(['payee', 'amount_micros', 'kind'])
      .where('subject', '=', `suspense:base:${reference}`)
      .executeTakeFirstOrThrow()
    expect(payout).toEqual({ payee: address.toLowerCase(), amount_micros: amount, kind: 'surplus' })
  }
  expect(await notified(`wallet:${exchange.payer}`)).toEqual(['approval.proposed', 'approval.approved'])
})

test('200: a dispute above 500 USD is resolved', async () => {
  const parties = await world.newParties()
  const id = await world.walk(parties, 'disputed')
  await raisePrice(market.db, id, 600_000_000n)
  const verdict = { order_id: id, outcome: 'release', note: 'Both were heard.' }
  expect((await decideByTwo(market, 'resolve_dispute', verdict)).status).toBe(200)
  const payout = await market.db
    .selectFrom('payouts')
    .select('amount_micros')
    .where('subject', '=', id)
    .where('kind', '=', 'payout')
    .executeTakeFirstOrThrow()
  expect(payout.amount_micros).toBe(540_000_000n)
})

test('200: a payout above a cap may be sent', async () => {
  const { id } = await makePayout(market.db)
  const held = { state: 'held', hold_code: 'payout_cap', reason: 'It is above the cap for one payout' }
  await market.db.updateTable('payouts').set(held).where('id', '=', id).execute()
  const reply = await decideByTwo(market, 'approve_payout', { payout_id: id })
  expect(reply.status).toBe(200)
  const row = await market.db
    .selectFrom('payouts')
    .select('approval_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect(row.approval_id).toBe(reply.body.data.id)
  expect((await auditOf(market.db, id)).map(({ act }) => act)).toEqual([
    'approval.proposed',
    'payout.approved',
    'approval.approved',
  ])
})

test('200: fees are set aside for an address of the configuration, once, and the treasury reports them', async () => {
  await finalizeTransfers(market.db)
  // Two amounts in different stripes of the fees.
  await bringFees(market.db, 3_000_000n)
  await bringFees(market.db, 4_000_000n)
  const ofBase = async () =>
    (await market.client().get('/api/admin/treasury', { bearer: ADMIN_KEY })).body.data[1]
  const before = await balanceOf(market.db, fees(NETWORK))
  const payload = { network: NETWORK, amount_usd: '7.00', payee: FEE_ADDRESS }
  const { status, body } = await decideByTwo(market, 'withdraw_fees', payload)
  expect(status).toBe(200)
  expect(await balanceOf(market.db, fees(NETWORK))).toBe(before - 7_000_000n)
  const payout = await market.db
    .selectFrom('payouts')
    .select(['id', 'kind', 'payee', 'amount_micros', 'approval_id'])
    .where('subject', '=', body.data.id)
    .executeTakeFirstOrThrow()
  expect(payout).toMatchObject({
    kind: 'fee_withdrawal',
    payee: FEE_ADDRESS.toLowerCase(),
    amount_micros: 7_000_000n,
    approval_id: body.data.id,
  })
  expect(await balanceIn(market.db, payable(NETWORK, payout.id))).toBe(7_000_000n)
  expect((await auditOf(market.db, payout.id)).map(({ act }) => act)).toEqual(['fees.withdrawn'])
  expect(await ofBase()).toMatchObject({ fees_usd: formatUsd(usdc(before - 7_000_000n)) })
})

test('409: fees that are gone when the second operator approves stay as they are', async () => {
  await finalizeTransfers(market.db)
  const all = await balanceOf(market.db, fees(NETWORK))
  await bringFees(market.db, 2_000_000n)
  const payload = { network: NETWORK, amount_usd: formatUsd(usdc(all + 2_000_000n)), payee: FEE_ADDRESS }
  const proposals = [
    idOf(await proposeAs(market, 'withdraw_fees', payload)),
    idOf(await proposeAs(market, 'withdraw_fees', payload)),
  ]
  const replies = await Promise.all(proposals.map((id) => approveAs(market, id, bearer)))
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
  expect(await balanceOf(market.db, fees(NETWORK))).toBe(0n)
})

test('200: of ten concurrent approvals one executes', async () => {
  const { payout, id } = await makeProposal()
  const replies = await Promise.all(Array.from({ length: 10 }, () => approveAs(market, id, bearer)))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  for (const reply of replies.filter(({ status }) => status !== 200)) rejected(reply, 409, 'approval_decided')
  expect((await payoutOf(payout.id)).round).toBe(2)
})

test('400: an invalid id', async () => {
  invalid(await approveAs(market, 'apr_1'), 'approval_id')
})

test('401: a login that is older than 15 minutes', async () => {
  const { payout, id } = await makeProposal()
  const stale = loginBefore(market, 960, SECOND_ADMIN_USER)
  rejected(await approveAs(market, id, stale), 401, 'login_too_old')
  expect((await payoutOf(payout.id)).state).toBe('failed')
})

test('403: the operator who proposed it; nothing moves (asvs V2.4)', async () => {
  const { payout, id } = await makeProposal()
  rejected(await approveAs(market, id, await operatorToken(market)), 403, 'second_operator_required')
  expect(await payoutOf(payout.id)).toMatchObject({ state: 'failed', payee: payout.payee })
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { id } = await makeProposal()
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey])
    rejected(await approveAs(market, id, credential), 403, 'wrong_credential')
})

test('404: an unknown approval', async () => {
  rejected(await approveAs(market, NO_APPROVAL), 404, 'not_found')
})

test('409: what can no longer be done changes nothing and stays pending', async () => {
  const { payout, id } = await makeProposal()
  const { payout: other, id: again } = { ...(await makeProposal()) }
  expect((await approveAs(market, again)).status).toBe(200)
  await market.db.updateTable('payouts').set({ state: 'queued' }).where('id', '=', payout.id).execute()
  rejected(await approveAs(market, id), 409, 'conflict')
  expect(await payoutOf(payout.id)).toMatchObject({ payee: payout.payee, round: 1 })
  expect((await payoutOf(other.id)).round).toBe(2)
  const row = await market.db.selectFrom('approvals').select('state').where('id', '=', id).execute()
  expect(row).toEqual([{ state: 'pending' }])
})

test('409: 24 hours after the proposal nobody can approve it', async () => {
  const { payout, id } = await makeProposal()
  await market.advance(24 * HOUR)
  rejected(await approveAs(market, id), 409, 'approval_decided')
  expect((await payoutOf(payout.id)).state).toBe('failed')
  const row = await market.db.selectFrom('approvals').select('state').where('id', '=', id).execute()
  expect(row).toEqual([{ state: 'expired' }])
})
