import { MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { escrow, fees, post, splitPrice } from '@market/money/ledger'
import { advancePayout, findAliveUntil, type Payout, writeOffTransfer } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Address, Hex } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import { backUp } from '../support/backup.ts'
import { type OwedOrder, payFor, requestOwed } from '../support/owed-order.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

/** A database that is put back, while what it signed after the backup is still in the hands of others. */

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

const PRICE = usdc(5_000_000n)
const FLOAT = escrow(NETWORK, 'float')

let ledger: PayoutLedger
let restored: PayoutLedger | undefined
beforeEach(async () => {
  await chain.automine(true)
  ledger = await startPayoutLedger(chain)
  restored = undefined
  return async () => {
    await restored?.stop()
    await ledger.stop()
  }
})

const newestHeight = async () => BigInt(String(await chain.rpc('eth_blockNumber', [])))

/** An order that is paid now. It ends as its payout or its refund says. */
const newOrder = async (name: string) => {
  const [buyer, seller] = [newAccount().address.toLowerCase(), newAccount().address.toLowerCase()]
  const paid = { price: PRICE, payer: buyer, height: await newestHeight() }
  const of = (kind: 'payout' | 'refund', payee: string, amount: typeof PRICE): OwedOrder => ({
    ...{ network: NETWORK, kind, name, payee, amount, paid },
  })
  return {
    payout: of('payout', seller, splitPrice(PRICE).agent),
    refund: of('refund', buyer, PRICE),
    received: async () => [await chain.balanceOf(seller as Address), await chain.balanceOf(buyer as Address)],
  }
}

type Order = Awaited<ReturnType<typeof newOrder>>

const pay = ({ ctx }: PayoutLedger, order: Order) =>
  ctx.transact((tx) => payFor(ctx, tx, order.payout, FLOAT))
const end = ({ ctx }: PayoutLedger, owed: OwedOrder) =>
  ctx.transact((tx) => requestOwed(ctx, tx, owed, FLOAT))

/** Of the order that is paid in the backup; all that follows is lost, and the signature with it. */
async function loseSigned(order: Order, kind: 'payout' | 'refund'): Promise<Hex> {
  await pay(ledger, order)
  await ledger.compare()
  const restore = await backUp(ledger.url)
  const lost = await end(ledger, order[kind])
  await advancePayout(ledger.app, lost.id)
  const [signed] = await ledger.signaturesOf(lost)
  if (signed === undefined) throw new Error('nothing was signed')
  restored = await startPayoutLedger(chain, {
    ...{ treasury: ledger.account, compared: false, restored: await restore() },
  })
  return signed.bytes as Hex
}

const theRestored = (): PayoutLedger => {
  if (restored === undefined) throw new Error('nothing was restored')
  return restored
}

/** Anybody can submit what the treasury signed. */
async function submitLost(bytes: Hex): Promise<void> {
  const stranger = newAccount()
  await chain.fund(stranger.address)
  await chain.call(stranger, chain.usdc, bytes)
}

/** Makes time pass on the chain, and reads it. */
async function pass(on: PayoutLedger, minutes: number): Promise<void> {
  await chain.rpc('evm_increaseTime', [minutes * 60])
  await chain.mine(FINALITY + 1)
  await on.compare()
  await on.compare()
}

async function payFinally(on: PayoutLedger, payout: Payout): Promise<void> {
  await on.advance(payout)
  expect(await on.rowOf(payout)).toMatchObject({ state: 'signed', hold_code: null })
  await chain.mine(FINALITY)
  await on.advance(payout)
  expect(await on.rowOf(payout)).toMatchObject({ state: 'final' })
}

const aliveUntil = async (on: PayoutLedger) => (await on.guard()).alive_until?.toISOString()

const expectHeld = async (on: PayoutLedger, payout: Payout) => {
  await on.advance(payout)
  expect(await on.rowOf(payout)).toMatchObject({
    state: 'held',
    hold_code: 'authorization_alive',
    hold_detail: `until ${await aliveUntil(on)}`,
    reason: `What was signed before can still be executed: until ${await aliveUntil(on)}`,
  })
  expect(await on.signaturesOf(payout)).toEqual([])
}

describe('restored database: an order whose lost payout can still be executed', () => {
  test('its refund waits for authorization_alive, and the lost payout is the only payment', async () => {
    const order = await newOrder('order-a')
    const bytes = await loseSigned(order, 'payout')
    const on = theRestored()
    await on.compare()
    const refund = await end(on, order.refund)
    await expectHeld(on, refund)
    await submitLost(bytes)
    await expectHeld(on, refund)
    await pass(on, 40)
    // The chain shows a payment that the database does not know, so its end changes nothing.
    await expectHeld(on, refund)
    expect(await order.received()).toEqual([order.payout.amount, 0n])
    expect(await on.count()).toBe(1)
  })

  test('its refund is paid when a final block is past the end and nothing was executed', async () => {
    const order = await newOrder('order-b')
    const bytes = await loseSigned(order, 'payout')
    const on = theRestored()
    await on.compare()
    const refund = await end(on, order.refund)
    await expectHeld(on, refund)
    await chain.rpc('evm_increaseTime', [40 * 60])
    await chain.mine(1)
    await on.compare()
    // That block is not final.
    await expectHeld(on, refund)
    await chain.mine(FINALITY)
    await on.compare()
    await on.compare()
    expect(await on.guard()).toMatchObject({ alive_until: null })
    await payFinally(on, refund)
    await expect(submitLost(bytes)).resolves.toBeUndefined()
    expect(await order.received()).toEqual([0n, PRICE])
  })

  test('the same payout is signed at once, and the chain executes one of the two', async () => {
    const order = await newOrder('order-c')
    const bytes = await loseSigned(order, 'payout')
    const on = theRestored()
    await on.compare()
    const payout = await end(on, order.payout)
    await on.advance(payout)
    expect(await on.rowOf(payout)).toMatchObject({ state: 'signed', hold_code: null })
    await submitLost(bytes)
    await chain.mine(FINALITY)
    await on.advance(payout)
    expect(await on.rowOf(payout)).toMatchObject({ state: 'final' })
    expect(await order.received()).toEqual([order.payout.amount, 0n])
  })

  test('an operator writes the lost payment off, and then the refund is paid', async () => {
    const order = await newOrder('order-d')
    const bytes = await loseSigned(order, 'payout')
    const on = theRestored()
    await on.compare()
    const refund = await end(on, order.refund)
    await submitLost(bytes)
    await pass(on, 40)
    await expectHeld(on, refund)
    const [lost] = await on.outgoingTransfers()
    const { reference = '', transfer_index: index = 0 } = lost ?? {}
    const moves = [{ from: FLOAT, to: fees(NETWORK), amount: usdc(20_000_000n) }]
    const earned = { key: 'earned', reason: 'earned', subject: 'earned', network: NETWORK, moves } as const
    await on.ctx.transact((tx) => post(on.ctx, tx, earned))
    await on.ctx.transact((tx) => writeOffTransfer(on.ctx, tx, { network: NETWORK, reference, index }))
    await on.compare()
    await payFinally(on, refund)
  })
})

describe('restored database: what waits', () => {
  /** A database of which nothing is lost, restored. */
  const restoreWith = async (...orders: readonly Order[]): Promise<PayoutLedger> => {
    for (const order of orders) await pay(ledger, order)
    await ledger.compare()
    const restore = await backUp(ledger.url)
    restored = await startPayoutLedger(chain, {
      ...{ treasury: ledger.account, compared: false, restored: await restore() },
    })
    await restored.compare()
    return restored
  }

  test('a payout of an order that was paid before the backup is paid at once', async () => {
    const order = await newOrder('order-e')
    const on = await restoreWith(order)
    await payFinally(on, await end(on, order.payout))
  })

  test('a payout and a refund of orders that were paid after the restore are paid at once', async () => {
    const on = await restoreWith()
    await chain.mine(1)
    const [done, cancelled] = [await newOrder('order-f'), await newOrder('order-g')]
    await payFinally(on, await end(on, done.payout))
    await payFinally(on, await end(on, cancelled.refund))
  })

  test('a payout waits when its payment was made before the restore and claimed after it', async () => {
    const order = await newOrder('order-h')
    const on = await restoreWith()
    const payout = await end(on, order.payout)
    await expectHeld(on, payout)
    await pass(on, 40)
    await payFinally(on, payout)
  })

  test('a payout waits when another caller could still get its payment', async () => {
    const order = await newOrder('order-i')
    const on = await restoreWith(order)
    const payout = await end(on, order.payout)
    const notBefore = on.ctx.clock.now()
    await on.ctx.db
      .updateTable('payouts')
      .set({ not_before: notBefore })
      .where('id', '=', payout.id)
      .execute()
    await expectHeld(on, payout)
  })

  test.each(['move_to_venue', 'refund'] as const)('a %s without a payment waits', async (kind) => {
    const on = await restoreWith()
    await expectHeld(on, await on.request({ kind }))
  })

  test('a second restart within the time does not make known what was claimed after the first', async () => {
    const order = await newOrder('order-j')
    const on = await restoreWith()
    const payout = await end(on, order.payout)
    const first = await on.guard()
    await on.ctx.db.updateTable('payout_guards').set({ database_epoch: 'an earlier epoch' }).execute()
    await chain.mine(1)
    await on.compare()
    const second = await on.guard()
    expect(second.claims_known_until).toEqual(first.claims_known_until)
    expect(Number(second.alive_until)).toBeGreaterThanOrEqual(Number(first.alive_until))
    await expectHeld(on, payout)
  })

  test('a database that was never compared with the chain has lost nothing', () =>
    expect(ledger.guard()).resolves.toMatchObject({ alive_until: null, alive_height: null }))
})

describe('freeze', () => {
  test('complete_at: not before what a lost database signed has expired', async () => {
    const order = await newOrder('order-k')
    await loseSigned(order, 'payout')
    const on = theRestored()
    const until = async () => (await findAliveUntil(on.ctx.db)).get(NETWORK)
    // Until the worker has read the chain.
    expect(Number(await until())).toBeGreaterThan(Date.now() + 30 * MINUTE)
    const block = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    await on.compare()
    expect(await until()).toEqual(new Date((Number(block.timestamp) + 31 * 60) * SECOND))
    await pass(on, 40)
    expect(await until()).toBeUndefined()
  })
})
