import { randomUUID } from 'node:crypto'
import { operations } from '@market/contract/operations'
import { enqueue } from '@market/core/queue'
import { sql } from 'kysely'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { operatorToken, proposeAs, whileOn } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { insertSnapshot } from '../support/reserve-snapshots.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { makeClaimed, makeFailed, makePayout, makeUnmatched } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/overview'
const BASE = 'base-mainnet'
const MINUTE = 60_000

const gasKey = generatePrivateKey()
const gasAccount = privateKeyToAccount(gasKey)

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld({ BASE_GAS_KEY: gasKey.slice(2), BASE_GAS_ACCOUNT: gasAccount.address })
})
afterAll(() => world.stop())

const subject: Subject = {
  market: () => world.market,
  operation: operations.getOverview,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const instant = expect.stringMatching(INSTANT)
const get = (query = '', bearer = ADMIN_KEY) => world.market.client().get(`${PATH}${query}`, { bearer })
const read = async () => (await get()).body.data
const ago = (ms: number) => new Date(world.market.now() - ms)

const nothing = { count: 0, at_least: false }
const acts = (...names: (keyof typeof operations)[]) =>
  names.map((operation) => {
    const { method, path } = operations[operation]
    return { operation, method, path }
  })

const takeSnapshot = (short: bigint, at: Date) =>
  insertSnapshot(world.market.db, { network: BASE, at, treasury: world.treasury, short })

test('200: nothing waits; for an admin key and an operator', async () => {
  await world.chain.fund(gasAccount.address)
  await takeSnapshot(0n, ago(0))
  for (const bearer of [ADMIN_KEY, await operatorToken(world.market)]) {
    const { status, body } = await get('', bearer)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: {
        at: instant,
        waiting: [],
        disputes: {
          ...nothing,
          networks: [],
          order_ids: [],
          acts: acts('getOrder', 'resolveDispute', 'createApproval'),
        },
        contests: {
          ...nothing,
          for_arbiter: 0,
          oldest_at: null,
          acts: acts('listContests', 'resolveDispute', 'resolveRegistration'),
        },
        held_payouts: { ...nothing, groups: [], acts: acts('listPayouts', 'createApproval', 'turnSwitch') },
        failed_payouts: {
          ...nothing,
          groups: [],
          acts: acts('listPayouts', 'retryAnyPayout', 'createApproval'),
        },
        unmatched_transfers: {
          ...nothing,
          groups: [],
          acts: acts('listUnmatched', 'refundTransfer', 'recognizeTransfer', 'createApproval'),
        },
        dropped_webhooks: { ...nothing, agents: 0, most: [], acts: acts('getAgent') },
        gas: {
          networks: [
            {
              network: BASE,
              balance: expect.stringMatching(/^[1-9]\d+$/),
              settlements_left: expect.any(Number),
              few_below: 200,
            },
          ],
          acts: [],
        },
        reserves: {
          networks: [
            {
              network: BASE,
              checked_at: instant,
              age_seconds: expect.any(Number),
              shortfall_usd: '0.00',
              solvent: true,
            },
          ],
          acts: acts('getTreasury', 'listUnexplained', 'writeOffTransfer', 'createApproval', 'turnSwitch'),
        },
        jobs: { ...nothing, oldest_seconds: 0, failing: 0, acts: [] },
        statistics: { ...nothing, oldest_seconds: 0, acts: [] },
        approvals: {
          ...nothing,
          oldest_at: null,
          next_expiry_at: null,
          acts: acts('listApprovals', 'approveApproval', 'rejectApproval'),
        },
        switches: { on: [], acts: acts('listSwitches', 'turnSwitch') },
      },
    })
  }
})

test('200: disputes with their money, and nothing that a party wrote', async () => {
  const orderId = await world.walk(await world.newParties(), 'disputed')
  const { body } = await get()
  expect(body.data.waiting).toContain('disputes')
  expect(body.data.disputes).toMatchObject({
    count: 1,
    networks: [{ network: BASE, count: 1, amount_usd: '25.00', oldest_at: instant }],
    order_ids: [orderId],
  })
  expect(JSON.stringify(body)).not.toContain('It is not blue')
  await world.resolve(orderId, { outcome: 'refund' })
  expect((await read()).disputes).toMatchObject({ ...nothing, order_ids: [] })
})

test('200: held and failed payouts by hold code and network', async () => {
  const { db } = world.market
  const hold = async (code: string, at: Date) => {
    const { id } = await makePayout(db)
    const held = { state: 'held', hold_code: code, reason: 'It waits', created_at: at }
    await db.updateTable('payouts').set(held).where('id', '=', id).execute()
  }
  await hold('contest_window', ago(5 * MINUTE))
  expect((await read()).waiting).not.toContain('held_payouts')
  await hold('payout_cap', ago(9 * MINUTE))
  await hold('payout_cap', ago(7 * MINUTE))
  await makeFailed(db, { network: 'alt-mainnet', amount: 1_500_000n })
  const { waiting, held_payouts, failed_payouts } = await read()
  expect(waiting).toEqual(expect.arrayContaining(['held_payouts', 'failed_payouts']))
  expect(held_payouts).toMatchObject({
    count: 3,
    at_least: false,
    groups: [
      { network: BASE, hold_code: 'contest_window', count: 1, amount_usd: '5.00', needs_operator: false },
      { network: BASE, hold_code: 'payout_cap', count: 2, amount_usd: '10.00', needs_operator: true },
    ],
  })
  expect(ageOf(held_payouts.groups[1].oldest_at)).toBeGreaterThanOrEqual(9 * MINUTE)
  expect(failed_payouts).toMatchObject({
    count: 1,
    groups: [{ network: 'alt-mainnet', hold_code: null, count: 1, amount_usd: '1.50', oldest_at: instant }],
  })
})

test('200: contests; those of delivered orders wait for an arbiter', async () => {
  const [payer, seller] = [await world.newBuyer(), await world.newSeller({ price_usd: '10.00' })]
  const hash = await world.settled(payer, 11_000_000n)
  const name = (brief: string) =>
    world.market
      .client()
      .post(`/api/x402/pay?service_id=${seller.serviceId}`, { brief }, { headers: { 'x-payment': hash } })
  const bought = await name('The first brief.')
  await world.deliver(seller.apiKey, String(bought.body.data.order_id))
  expect((await name('The second brief.')).status).toBe(409)
  const { body } = await get()
  expect(body.data.waiting).toContain('contests')
  expect(body.data.contests).toMatchObject({ count: 1, for_arbiter: 1, oldest_at: instant })
  expect(JSON.stringify(body)).not.toContain('brief.')
})

const ageOf = (at: string) => world.market.now() - Date.parse(at)

test('200: unmatched transfers by network and kind; a surplus alone waits for nobody', async () => {
  const { db } = world.market
  await makeClaimed(db, { due: 1_000_000n, paid: 1_050_000n })
  const before = await read()
  expect(before.waiting).not.toContain('unmatched_transfers')
  await makeUnmatched(db, { amount: 2_000_000n })
  await makeUnmatched(db, { amount: 3_000_000n })
  const { waiting, unmatched_transfers } = await read()
  expect(waiting).toContain('unmatched_transfers')
  expect(unmatched_transfers).toMatchObject({
    count: 3,
    groups: [
      { network: BASE, kind: 'suspense', count: 2, amount_usd: '5.00', oldest_at: instant },
      { network: BASE, kind: 'surplus', count: 1, amount_usd: '0.05' },
    ],
  })
})

test('200: webhooks that were dropped in 24 hours, by agent', async () => {
  const { db } = world.market
  const [busy, calm] = [await makeAgent(world.market), await makeAgent(world.market)]
  const drop = (agentId: string, at: Date) =>
    db
      .insertInto('deliveries')
      .values({
        ...{
          id: randomUUID(),
          created_at: at,
          agent_id: agentId,
          seq: 1n,
          event: 'order.created',
          order_id: '',
        },
        ...{ status: 'dropped', attempts: 3, due_at: null, first_attempt_at: at, ended_at: at },
      })
      .execute()
  for (const at of [ago(MINUTE), ago(2 * MINUTE)]) await drop(busy.id, at)
  await drop(calm.id, ago(3 * MINUTE))
  await drop(calm.id, ago(25 * 60 * MINUTE))
  const { waiting, dropped_webhooks } = await read()
  expect(dropped_webhooks).toMatchObject({
    count: 3,
    agents: 2,
    most: [
      { agent_id: busy.id, count: 2 },
      { agent_id: calm.id, count: 1 },
    ],
  })
  expect(waiting).not.toContain('dropped_webhooks')
})

test('200: gas and reserves wait when they are low, short or unknown', async () => {
  await world.chain.rpc('anvil_setBalance', [gasAccount.address, '0x1'])
  await takeSnapshot(2_500_000n, ago(0))
  const { waiting, gas, reserves } = await read()
  expect(waiting).toEqual(expect.arrayContaining(['gas', 'reserves']))
  expect(gas.networks).toMatchObject([{ network: BASE, balance: '1', settlements_left: 0 }])
  expect(reserves.networks).toMatchObject([{ network: BASE, shortfall_usd: '2.50', solvent: false }])
})

test('200: jobs that are due or fail, and changes of figures that were not moved', async () => {
  const { db } = world.market
  const { id } = await makeAgent(world.market)
  await enqueue(db, { name: 'deliver-events', payload: { agentId: id as `agt_${string}` } })
  await sql`
    update graphile_worker._private_jobs set run_at = now() - interval '2 minutes', attempts = 1,
      last_error = 'broken'`.execute(db)
  await sql`update statistic_changes set created_at = now() - interval '2 minutes'`.execute(db)
  const { waiting, jobs, statistics } = await read()
  expect(waiting).toEqual(expect.arrayContaining(['jobs', 'statistics']))
  expect(jobs.count).toBeGreaterThanOrEqual(1)
  expect(jobs.failing).toBeGreaterThanOrEqual(1)
  expect(jobs.oldest_seconds).toBeGreaterThanOrEqual(120)
  expect(statistics.count).toBeGreaterThanOrEqual(1)
  expect(statistics.oldest_seconds).toBeGreaterThanOrEqual(120)
})

test('200: approvals that wait, and switches that are on with operator and reason', async () => {
  const { market } = world
  const { id } = await makeFailed(market.db)
  await proposeAs(market, 'redirect_payout', {
    payout_id: id,
    payee: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  })
  await whileOn(market, 'freeze_payouts_base', async () => {
    const { waiting, approvals, switches } = await read()
    expect(waiting).toEqual(expect.arrayContaining(['approvals', 'switches']))
    expect(approvals).toMatchObject({ count: 1, oldest_at: instant, next_expiry_at: instant })
    expect(switches.on).toEqual([
      {
        name: 'freeze_payouts_base',
        on: true,
        on_since: instant,
        changed_at: instant,
        changed_by: `user:${ADMIN_USER}`,
        reason: 'A test turns it',
        complete_at: null,
      },
    ])
  })
  expect((await read()).switches.on).toEqual([])
})

test('200: at_least is true when a count reaches its limit', async () => {
  await sql`
    insert into statistic_changes (name, amount) select 'agents', 1 from generate_series(1, 1001)`.execute(
    world.market.db,
  )
  expect((await read()).statistics).toMatchObject({ count: 1_000, at_least: true })
})

test('400: an unknown query field', async () => {
  invalid(await get('?network=base-mainnet'), '')
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(world.market)
  const { apiKey } = await makeAgent(world.market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})
