import { setTimeout as wait } from 'node:timers/promises'
import type { BountyId } from '@market/kernel/ids'
import { NETWORKS } from '@market/kernel/network'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ESCROW } from '../support/bounties.ts'
import type { Reply } from '../support/client.ts'
import { namedIn } from '../support/named-transfers.ts'
import { until } from '../support/until.ts'
import {
  type AcceptWorld,
  type Balances,
  BUDGET,
  type FundedTransfer,
  LONG,
  startAcceptWorld,
} from './accept-world.ts'
import { namedTransfers } from './bounty-money.ts'
import { CLAIMS } from './race-fixture.ts'

/** One poster accepts all claims of a bounty at once, with many transfers on three real chains and real processes. */

const ACCEPTS = 50
/** Longer than a killed process holds the right to respond for an Idempotency-Key. */
const LEASE_MS = 31_000
const PAUSE_MS = 50
/** For a busy machine; nothing is measured. */
const TIMEOUT = { timeout: 900_000 }

let world: AcceptWorld
let agents: Awaited<ReturnType<AcceptWorld['makeAgents']>>
beforeAll(async () => {
  world = await startAcceptWorld()
  agents = await world.makeAgents(CLAIMS)
})
afterAll(() => world?.stop())

interface Round {
  readonly bountyId: BountyId
  readonly transfers: readonly FundedTransfer[]
  /** Before the transfers. */
  readonly before: Balances
  readonly accept: (n: number) => Promise<Reply>
}

async function prepare(): Promise<Round> {
  const { bountyId, claims } = await world.postClaimed(agents)
  const before = await world.balances()
  const transfers = await world.fund(ACCEPTS)
  return {
    bountyId,
    transfers,
    before,
    accept: (n) =>
      world.accept(
        n,
        claims[n % CLAIMS] as (typeof claims)[number],
        transfers[n] as FundedTransfer,
        `${bountyId}-${n}`,
      ),
  }
}

const outcomeOf = ({ status, body }: Reply): string => (status < 300 ? String(status) : String(body.code))

/** 202: a transfer that is not confirmed yet is waited for. A repeated request gets the stored response. */
const expectOutcomes = (replies: readonly Reply[]) => {
  const allowed = ['200', '202', 'bounty_not_open']
  expect(replies.map(outcomeOf).filter((one) => !allowed.includes(one))).toEqual([])
}

/** The poster has spent this, and the treasuries have got it, on the network of the winning transfer only. */
async function expectSpent({ before }: Round, { network: wonOn, amount }: FundedTransfer) {
  const wanted = Object.fromEntries(
    NETWORKS.map((network) => {
      const moved = network === wonOn ? amount : 0n
      const { ofPoster, ofTreasury } = before[network]
      return [network, { ofPoster: ofPoster - moved, ofTreasury: ofTreasury + moved }]
    }),
  )
  await until(
    'every payout is final',
    async () => (await world.countPayouts('final')) === (await allPayouts()),
    LONG,
  )
  expect(await world.balances()).toEqual(wanted)
  await world.expectWhole()
}

const allPayouts = async () => (await world.db.selectFrom('payouts').select('id').execute()).length

/** One order with one escrow. All other transfers return to the poster by themselves. */
async function expectOneOrder(round: Round) {
  const { bountyId, transfers } = round
  await until(
    'every transfer is decided',
    async () => {
      const { accepted = 0, refunded = 0 } = await world.countNamed(bountyId)
      return accepted + refunded === ACCEPTS
    },
    LONG,
  )
  expect(await world.countNamed(bountyId)).toEqual({ accepted: 1, refunded: ACCEPTS - 1 })
  const won = (await namedTransfers(world.db, bountyId)).find(({ status }) => status === 'accepted')
  const transfer = transfers.find(({ reference }) => reference === won?.reference)
  const order = await world.db
    .selectFrom('orders')
    .select(['id', 'agent_id', 'status', 'price_micros', 'payment_reference'])
    .where('bounty_id', '=', bountyId)
    .executeTakeFirstOrThrow()
  expect(order).toMatchObject({
    id: won?.orderId,
    status: 'paid',
    price_micros: ESCROW,
    payment_reference: won?.reference,
  })
  const agent = agents.find(({ id }) => id === order.agent_id)
  if (transfer === undefined || agent === undefined) throw new Error('one transfer accepted one claim')
  await expectSpent(round, transfer)
  expect(await refundsOf(bountyId)).toEqual(
    transfers
      .filter((one) => one !== transfer)
      .map(({ network, amount }) => ({ network, amount, state: 'final' })),
  )
  expect(await escrows()).toEqual([[`order:${order.id}`, ESCROW]])
  return { orderId: order.id, agent, transfer }
}

const refundsOf = (bountyId: BountyId) =>
  world.db
    .selectFrom('payouts')
    .select(['network', 'amount_micros as amount', 'state'])
    .where('subject', 'in', namedIn(bountyId))
    .orderBy('amount_micros')
    .execute()

async function escrows() {
  const rows = await world.db
    .selectFrom('ledger_accounts')
    .select(['subject', 'balance_micros'])
    .where('kind', '=', 'escrow')
    .where('balance_micros', '<>', 0n)
    .execute()
  return rows.map(({ subject, balance_micros }) => [subject, balance_micros])
}

/** Repeats what was not answered, with the same Idempotency-Key, as the contract asks for. */
async function acceptAgain({ accept }: Round, n: number): Promise<Reply> {
  const deadline = performance.now() + LONG.withinMs
  for (;;) {
    const reply = await accept(n).catch(() => undefined)
    const isAnswered = reply !== undefined && reply.status < 500 && reply.body.code !== 'request_in_progress'
    if (isAnswered || performance.now() > deadline) return reply as Reply
    await wait(PAUSE_MS)
  }
}

/** An API dies while requests wait for the bounty, the other one among the decisions, and the workers among the refunds. */
async function killAll({ bountyId }: Round): Promise<void> {
  const named = async () => Object.values(await world.countNamed(bountyId)).reduce((sum, one) => sum + one, 0)
  const signed = await world.countPayouts('signed', 'final')
  await world.whileLocked(bountyId, async () => {
    await until('requests wait for the bounty', async () => (await world.countWaiting()) > 1, LONG)
    await world.restartApi(0)
  })
  await until('some transfers are named', async () => (await named()) >= 5, { ...LONG, everyMs: 5 })
  await world.restartApi(1)
  await world.market.advance(LEASE_MS)
  const isSigned = (count: number) => async () =>
    (await world.countPayouts('signed', 'final')) >= signed + count
  await until('some refunds are signed', isSigned(3), { ...LONG, everyMs: 5 })
  await world.restartWorker(0)
  await until('more refunds are signed', isSigned(15), { ...LONG, everyMs: 5 })
  await Promise.all([world.restartWorker(0), world.restartWorker(1)])
}

test(
  'accept: killed API and worker processes change nothing of one order, 49 refunds on chain and the payout',
  TIMEOUT,
  async () => {
    const round = await prepare()
    const killing = killAll(round)
    const replies = await Promise.all(round.transfers.map((_, n) => acceptAgain(round, n)))
    await killing
    expectOutcomes(replies)
    const { orderId, agent, transfer } = await expectOneOrder(round)
    expect((await world.deliver(agent, orderId)).status).toBe(200)
    expect((await world.byPoster(orderId, 'approve')).status).toBe(200)
    const earned = () => world.balanceOn(transfer.network, agent.payees)
    await until('the agent is paid', async () => (await earned()) > 0n, LONG)
    expect(await earned()).toBe(BUDGET)
    expect(await escrows()).toEqual([])
    await world.expectWhole()
  },
)
