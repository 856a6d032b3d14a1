import { connect } from '@market/database/connect'
import { type Db, type Tx, transact } from '@market/database/transact'
import { evmSigner } from '@market/testing/evm-signer'
import { sql } from 'kysely'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, type Parties, PRICE, startOrderWorld } from '../orders/order-world.ts'
import { asHeaders, signed } from '../support/makers.ts'
import { keepMining } from '../support/market-chains.ts'
import { setPayout } from '../support/set-payout.ts'
import { until } from '../support/until.ts'

const EARNED = (PRICE * 9n) / 10n
const LONG_WAIT = { withinMs: 120_000, everyMs: 100 }

let world: OrderWorld
/** The database with the rights of the api: what somebody has who took over an api process. */
let stolen: Db
beforeAll(async () => {
  world = await startOrderWorld({}, { float: 1_000_000_000n })
  stolen = connect({ url: world.market.environment['DATABASE_URL'] ?? '' })
  await world.market.startWorker()
}, 120_000)
afterAll(async () => {
  await stolen?.destroy()
  await world?.stop()
}, 120_000)

const balanceOf = (address: string) => world.chain.balanceOf(address as Address)

const payoutOf = (orderId: string) =>
  world.market.db
    .selectFrom('payouts')
    .selectAll()
    .where('kind', '=', 'payout')
    .where('subject', '=', orderId)
    .executeTakeFirst()

/** An approved order whose payout waits, because the chain makes no block and its payment is not final. */
async function waitingPayout(): Promise<{ parties: Parties; orderId: string }> {
  const parties = await world.newParties()
  const orderId = await world.walk(parties, 'delivered')
  expect((await world.act(parties.buyer, orderId, 'approve')).status).toBe(200)
  await until(
    'the worker has tried the payout',
    async () => (await payoutOf(orderId))?.hold_code === 'payment_not_final',
    LONG_WAIT,
  )
  return { parties, orderId }
}

const redirect = (tx: Tx, orderId: string, thief: string) =>
  sql`update payouts set payee = ${thief} where kind = 'payout' and subject = ${orderId}`.execute(tx)

/** Makes blocks until the payout waits for this. */
async function isHeldFor(orderId: string, code: string): Promise<void> {
  const stopMining = keepMining(world.chain)
  try {
    await until(`held: ${code}`, async () => (await payoutOf(orderId))?.hold_code === code, LONG_WAIT)
  } finally {
    await stopMining()
  }
}

test('a forged audit entry and a changed payee: nothing leaves for the thief', async () => {
  const { parties, orderId } = await waitingPayout()
  const thief = evmSigner().address.toLowerCase()
  await transact(stolen, async (tx) => {
    await sql`insert into audit_log (seq, at, actor, act, subject, request_id, details, seal)
      select seq + 1000000, now(), 'agent', 'agents.payout', ${parties.seller.id}, 'forged',
        ${JSON.stringify({ from: { payout_address_base: thief } })}::jsonb, decode(repeat('00', 32), 'hex')
      from audit_head`.execute(tx)
    await redirect(tx, orderId, thief)
  })
  await isHeldFor(orderId, 'order_mismatch')
  expect(await payoutOf(orderId)).toMatchObject({
    state: 'held',
    hold_detail: 'it is due to another address',
    counted_at: null,
  })
  const signatures = world.market.db.selectFrom('payout_signatures').select('payout_id')
  expect(await signatures.where('payout_id', '=', (await payoutOf(orderId))?.id ?? '').execute()).toEqual([])
  expect(await balanceOf(thief)).toBe(0n)
})

test('a forged confirmation: waits 24 hours at the worker, which notifies the owner', async () => {
  const { parties, orderId } = await waitingPayout()
  const { id, owner } = parties.seller
  const thief = evmSigner().address.toLowerCase()
  await transact(stolen, async (tx) => {
    await sql`update agents set pending_payout_address_base = ${thief}, pending_payout_since = clock_timestamp(),
      pending_payout_by = 'owner' where id = ${id}`.execute(tx)
    await sql`update agents set payout_address_base = ${thief}, pending_payout_address_base = null,
      pending_payout_since = null, pending_payout_by = null where id = ${id}`.execute(tx)
    await sql`insert into payout_confirmations (agent_id, address, signature, signed_at_ms)
      values (${id}, ${thief}, ${`0x${'1'.repeat(130)}`}, ${Date.now()})`.execute(tx)
    await redirect(tx, orderId, thief)
  })
  await isHeldFor(orderId, 'new_address')
  const session = asHeaders(await signed(owner, 'session', world.market.wallTime()))
  await until(
    'the owner is notified by the worker',
    async () => {
      const { data } = (await world.market.client().get('/api/notifications', { headers: session })).body
      return data.some(
        ({ kind, data: about }: { kind: string; data: { addresses?: string[] } }) =>
          kind === 'agent.payout_address_waits' && about.addresses?.includes(thief),
      )
    },
    LONG_WAIT,
  )
  const write = sql`insert into payout_addresses (agent_id, network, address, seen_at, effective_at)
    values (${id}, 'base-mainnet', ${thief}, now(), now())`
  await expect(write.execute(stolen)).rejects.toMatchObject({ code: '42501' })
  await expect(sql`delete from payout_changes`.execute(stolen)).rejects.toMatchObject({ code: '42501' })
  expect(await balanceOf(thief)).toBe(0n)
})

test('an address that the owner wallet signed for is paid at once', async () => {
  const parties = await world.newParties()
  const address = evmSigner().address
  await setPayout(world.market, parties.seller, 'payout_address_base', address)
  const orderId = await world.walk(parties, 'delivered')
  expect((await world.act(parties.buyer, orderId, 'approve')).status).toBe(200)
  const stopMining = keepMining(world.chain)
  try {
    await until('the new address is paid', async () => (await balanceOf(address)) === EARNED, LONG_WAIT)
  } finally {
    await stopMining()
  }
})
