import { emit } from '@market/core/events'
import { type Tx, transact } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emitMessages } from '../support/emit-messages.ts'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const emitPaid = (tx: Tx, agentId: string) =>
  emit({ clock: systemClock }, tx, {
    agentId: agentId as AgentId,
    event: 'order.paid',
    orderId: 'ord_1',
    data: { status: 'paid', service_title: 'A service' },
  })

async function storedOf({ id, apiKey }: { id: string; apiKey: string }) {
  const { body } = await market.client().get('/api/events', { bearer: apiKey })
  const counters = await market.db
    .selectFrom('event_counters')
    .select('last_seq')
    .where('agent_id', '=', id)
    .execute()
  const { rows: jobs } = await sql<{ key: string }>`
    select key from graphile_worker.jobs where key = ${`deliver-events:${id}`}`.execute(market.db)
  return { events: body.data.length, last: counters[0]?.last_seq ?? 0n, jobs: jobs.length }
}

const NOTHING = { events: 0, last: 0n, jobs: 0 }

/** How a command can fail after it emitted an event. */
const FAILURES: readonly [string, (tx: Tx) => Promise<unknown>][] = [
  ['the command throws', () => Promise.reject(new Error('rejected'))],
  ['a statement fails', (tx) => sql`select 1 / 0`.execute(tx)],
  [
    'the connection is cut before the commit',
    (tx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx),
  ],
]

test.each(FAILURES)('when %s, no event, number or job is stored', async (_why, fail) => {
  const agent = await makeAgent(market)
  const command = transact(market.db, async (tx) => {
    expect(await emitPaid(tx, agent.id)).toBe(1n)
    expect(await emitPaid(tx, agent.id)).toBe(2n)
    await fail(tx)
  })
  await expect(command).rejects.toThrow()
  expect(await storedOf(agent)).toEqual(NOTHING)
  expect(await emitMessages(market.db, agent.id, 'after')).toEqual([1n])
  expect(await storedOf(agent)).toEqual({ events: 1, last: 1n, jobs: 1 })
})

test('the event, its number and its job are not visible before the commit', async () => {
  const agent = await makeAgent(market)
  await transact(market.db, async (tx) => {
    await emitPaid(tx, agent.id)
    expect(await storedOf(agent)).toEqual(NOTHING)
  })
  expect(await storedOf(agent)).toEqual({ events: 1, last: 1n, jobs: 1 })
})

test('rolling back to a savepoint removes the events emitted after it', async () => {
  const agent = await makeAgent(market)
  await transact(market.db, async (tx) => {
    await emitPaid(tx, agent.id)
    await sql`savepoint part`.execute(tx)
    expect(await emitPaid(tx, agent.id)).toBe(2n)
    await sql`rollback to savepoint part`.execute(tx)
  })
  expect(await storedOf(agent)).toEqual({ events: 1, last: 1n, jobs: 1 })
})
