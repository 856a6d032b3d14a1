import type { AgentId } from '@market/kernel/ids'
import { statementOf } from '@market/money/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isDone, type OrderWorld, startOrderWorld } from '../orders/order-world.ts'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

type Journals = Awaited<ReturnType<typeof statementOf>>['journals']

const reasonsOf = (journals: Journals) => journals.map(({ reason }) => reason).toReversed()

/** The sum of all journals per kind of account. */
function sumsOf(journals: Journals): Record<string, bigint> {
  const sums: Record<string, bigint> = {}
  for (const { account, micros } of journals.flatMap(({ legs }) => legs))
    sums[account.kind] = (sums[account.kind] ?? 0n) + micros
  return sums
}

test('the statement of an order shows its payment, its fee and its payout, and sums to zero', async () => {
  const [buyer, seller] = [await world.newBuyer(), await world.newSeller()]
  const { body } = isDone(await world.order(buyer, seller.serviceId))
  const id = body.data.id as string
  isDone(await world.act(buyer, id, 'pay', { escrow_tx_hash: await world.settled(buyer) }))
  isDone(await world.deliver(seller.apiKey, id))
  isDone(await world.act(buyer, id, 'approve'))

  const { db } = world.market
  const { journals } = await statementOf(db, { subject: id }, { limit: 10 })
  expect(reasonsOf(journals)).toEqual(['transfer.claimed', 'payout.requested', 'order.fee'])
  const sums = sumsOf(journals)
  expect(sums).toEqual({ world: -25_000_000n, escrow: 0n, payable: 22_500_000n, fees: 2_500_000n })
  expect(Object.values(sums).reduce((all, one) => all + one, 0n)).toBe(0n)
  for (const { legs } of journals) expect(legs.reduce((all, { micros }) => all + micros, 0n)).toBe(0n)

  const { agent_id } = await db
    .selectFrom('orders')
    .select('agent_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const ofAgent = await statementOf(db, { agentId: agent_id as AgentId }, { limit: 10 })
  expect(reasonsOf(ofAgent.journals)).toEqual(['payout.requested', 'order.fee'])
})
