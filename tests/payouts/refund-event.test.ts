import { findEventsAfter, lockBuyerEvents } from '@market/core/events'
import { transact } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import { escrow } from '@market/money/ledger'
import type { Payout } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import { requestOwed } from '../support/owed-order.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'
import { until } from '../support/until.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

/** Who buys the orders of `requestOwed`. */
const BUYER = 'user:a-buyer'

let ledger: PayoutLedger
beforeEach(async () => {
  await chain.automine(true)
  ledger = await startPayoutLedger(chain)
  return ledger.stop
})

const owe = (kind: 'payout' | 'refund', name: string): Promise<Payout> =>
  ledger.ctx.transact((tx) =>
    requestOwed(
      ledger.ctx,
      tx,
      { network: NETWORK, kind, name, payee: newAccount().address, amount: usdc(9_000_000n) },
      escrow(NETWORK, 'float'),
    ),
  )

const eventsOfBuyer = () => findEventsAfter(ledger.ctx.db, { kind: 'buyer', key: BUYER }, 0n, 10)

/** The refund is sent, and its block is final. */
async function send(payout: Payout): Promise<void> {
  await ledger.advance(payout)
  await ledger.advance(payout)
  await chain.mine(FINALITY)
}

test('order.refunded: the buyer gets it once, when the transaction of the refund is final', async () => {
  const refund = await owe('refund', 'refunded')
  await ledger.advance(refund)
  await ledger.advance(refund)
  expect(await eventsOfBuyer()).toEqual([])
  await chain.mine(FINALITY)
  await Promise.all(Array.from({ length: 5 }, () => ledger.advance(refund)))
  const { reference } = await ledger.ctx.db
    .selectFrom('payout_batches')
    .select('reference')
    .executeTakeFirstOrThrow()
  expect(await eventsOfBuyer()).toEqual([
    {
      seq: 1n,
      at: expect.any(Date),
      event: 'order.refunded',
      orderId: refund.subject,
      data: {
        amount_usd: '9.00',
        chain: 'base',
        tx_hash: reference,
        destination: refund.payee,
      },
    },
  ])
})

test('order.refunded: a payout to the agent emits no event to the buyer', async () => {
  const payout = await owe('payout', 'paid out')
  await send(payout)
  expect(await ledger.advance(payout)).toBeUndefined()
  expect((await ledger.rowOf(payout)).state).toBe('final')
  expect(await eventsOfBuyer()).toEqual([])
})

test('order.refunded: the counter of the buyer is locked before the row of the refund', async () => {
  const refund = await owe('refund', 'locked in order')
  await send(refund)
  const { db } = ledger.ctx
  let finalizing: Promise<unknown> | undefined
  await transact(db, async (tx) => {
    await lockBuyerEvents(tx, BUYER)
    finalizing = ledger.advance(refund)
    await until('the worker waits for the counter', async () => {
      const { rows } = await sql<{ waiting: bigint }>`
        select count(*) as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
      return Number(rows[0]?.waiting) > 0
    })
    await sql`select from payouts where id = ${refund.id} for update nowait`.execute(tx)
  })
  await finalizing
  expect(await eventsOfBuyer()).toHaveLength(1)
})
