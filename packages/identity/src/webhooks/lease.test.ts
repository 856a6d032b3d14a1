import { randomUUID } from 'node:crypto'
import { later, SECOND } from '@market/kernel/clock'
import { makeAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { expect, test } from 'vitest'
import { leaseDeliveryQueue } from './store.ts'

test('leaseDeliveryQueue: a lease of an earlier database epoch is free at once', async () => {
  const { db, stop } = await testDatabase()
  try {
    const ctx = marketContext({ db })
    const { id } = (await makeAgent(ctx)).agent
    const now = ctx.clock.now()
    const lease = () =>
      leaseDeliveryQueue(db, id, { holder: randomUUID(), now, until: later(now, 15 * SECOND) })
    expect(await lease()).toEqual({ lastSeq: 0n })
    expect(await lease()).toEqual({ leasedUntil: later(now, 15 * SECOND) })
    await db.updateTable('delivery_queues').set({ database_epoch: 'an earlier one' }).execute()
    expect(await lease()).toEqual({ lastSeq: 0n })
    expect(await lease()).toEqual({ leasedUntil: later(now, 15 * SECOND) })
  } finally {
    await stop()
  }
})
