import { SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { markOf } from '@market/kernel/payout-mark'
import { escrow } from '@market/money/ledger'
import { recheckTransfers } from '@market/money/payments'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Hex } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { CONFIRMATIONS, FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { NETWORK, openTreasury, type Treasury } from '../reserves/treasury.ts'
import { type Market, startMarket } from '../support/market.ts'
import { approveAs, decideByTwo, operatorToken } from '../support/operator.ts'
import { requestOwed } from '../support/owed-order.ts'
import type { ServerProcess } from '../support/processes.ts'
import { onAnyReversal } from '../support/reversals.ts'
import { FREQUENT_SWEEPS } from '../support/settings.ts'
import { until } from '../support/until.ts'

/** What `docs/operations/money.md` tells operators to do, done on a real chain. */
const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
const feeAddress = newAccount()
afterAll(() => network.stop())

let market: Market
let bearer: string
let treasury: Treasury
beforeEach(async () => {
  market = await startMarket({
    BASE_OWN_WALLETS: payer.address,
    BASE_FEE_ADDRESSES: feeAddress.address,
  })
  bearer = await operatorToken(market)
  treasury = await openTreasury(market.db, network, network.url, {}, [feeAddress.address])
  return () => market.stop()
})

const get = async (path: string) => (await market.client().get(`/api/admin/${path}`, { bearer })).body.data
const post = (path: string, body: object) =>
  market.client().post(`/api/admin/${path}`, { reason: 'The runbook says so', ...body }, { bearer })
const base = async () => (await get('treasury'))[1]

/** As the workers do all the time: what was seen becomes final, and what left is read. */
async function settle(): Promise<void> {
  await network.mine(FINALITY)
  treasury.clock.advance(10 * SECOND)
  await treasury.watch()
  await recheckTransfers(treasury.ctx, onAnyReversal())
}

async function pay(payout: Payout): Promise<void> {
  await treasury.advance(payout)
  await settle()
  await treasury.advance(payout)
}

const stateOf = ({ id }: Payout) =>
  market.db
    .selectFrom('payouts')
    .select(['state', 'reason', 'hold_code'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

test('unclaimed transfer: listed for the operator, refunded, and received by the payer', async () => {
  const reference = await network.transfer(payer, treasury.account.address, 3_000_000n)
  await network.mine(CONFIRMATIONS)
  await treasury.watch()
  expect(await get('unmatched-transfers')).toMatchObject([{ reference, state: 'seen', amount_usd: '3.00' }])
  await settle()
  const [found] = await get('unmatched-transfers')
  expect(found).toMatchObject({ kind: 'suspense', payer: payer.address.toLowerCase(), state: 'final' })
  const before = await network.balanceOf(payer.address)
  const { status, body } = await post(`unmatched-transfers/${found.id}/refund`, {})
  expect(status).toBe(200)
  expect(await get('unmatched-transfers')).toEqual([])
  await pay(body.data)
  expect(await stateOf(body.data)).toEqual({ state: 'final', reason: null, hold_code: null })
  expect(await network.balanceOf(payer.address)).toBe(before + 3_000_000n)
  expect((await treasury.takeSnapshot()).short).toBe(0n)
})

/** As the owner of the table can, but neither the payer nor two operators decided it. */
async function redirect({ id }: Payout) {
  const thief = newAccount().address
  await market.db.updateTable('payouts').set({ payee: thief }).where('id', '=', id).execute()
  return thief
}

test('unclaimed transfer: a refund whose payee was changed in the database is held and not signed', async () => {
  await network.transfer(payer, treasury.account.address, 3_000_000n)
  await network.mine(CONFIRMATIONS)
  await treasury.watch()
  await settle()
  const [found] = await get('unmatched-transfers')
  const { body } = await post(`unmatched-transfers/${found.id}/refund`, {})
  const thief = await redirect(body.data)
  await pay(body.data)
  expect(await stateOf(body.data)).toMatchObject({ state: 'held', hold_code: 'order_mismatch' })
  expect(await network.balanceOf(thief)).toBe(0n)
})

test('fees: a withdrawal to an address that the worker does not know is held and not signed', async () => {
  treasury = await openTreasury(market.db, network)
  await treasury.payIn(payer, 10_000_000n, { purpose: 'order:a', due: 10_000_000n })
  await settle()
  await treasury.earn('order:a', 1_000_000n)
  const payload = { network: NETWORK, amount_usd: '0.75', payee: feeAddress.address }
  const decided = await decideByTwo(market, 'withdraw_fees', payload)
  const payout = await findPayoutOf(market.db, 'fee_withdrawal', decided.body.data.id)
  if (payout === undefined) throw new Error('no payout was requested')
  const before = await network.balanceOf(feeAddress.address)
  await pay(payout)
  expect(await stateOf(payout)).toMatchObject({ state: 'held', hold_code: 'order_mismatch' })
  expect(await network.balanceOf(feeAddress.address)).toBe(before)
})

test('missing money: payouts pause, and continue after the operator writes off the loss and refills the treasury', async () => {
  await treasury.payIn(payer, 10_000_000n, { purpose: 'order:a', due: 10_000_000n })
  await settle()
  expect(await base()).toMatchObject({ open: true, short_usd: '0.00' })
  const thief = newAccount()
  const stolen = await network.transfer(treasury.account, thief.address, 2_000_000n)
  await settle()
  await treasury.takeSnapshot()
  expect(await base()).toMatchObject({ open: false, short_usd: '2.00' })
  const owed = await treasury.requestPayout('order:a', 4_000_000n, newAccount().address)
  await treasury.advance(owed)
  expect(await get('payouts')).toMatchObject([{ id: owed.id, hold_code: 'treasury_short' }])
  expect(await get('outgoing-transfers')).toEqual([
    expect.objectContaining({
      reference: stolen,
      payout_id: null,
      payee: thief.address.toLowerCase(),
      amount_usd: '2.00',
    }),
  ])

  const writeOff = () => post(`outgoing-transfers/${NETWORK}:${stolen}/write-off`, {})
  expect((await writeOff()).status).toBe(409)
  const deposit = await treasury.payIn(payer, 2_000_000n)
  await settle()
  const proposed = await post(`unmatched-transfers/suspense:${NETWORK}:${deposit}/recognize-revenue`, {})
  expect((await approveAs(market, proposed.body.data.id)).status).toBe(200)
  expect((await writeOff()).status).toBe(200)
  await treasury.takeSnapshot()
  expect(await base()).toMatchObject({ open: true, short_usd: '0.00', short_since: null })
  expect(await get('outgoing-transfers')).toEqual([])
  await pay(owed)
  expect((await stateOf(owed)).state).toBe('final')
  expect((await treasury.takeSnapshot()).short).toBe(0n)
})

/** The age of the newest snapshot at which the next one is due. */
const SNAPSHOT_EVERY_MS = 25 * SECOND
/** For what each step takes on a machine that is busy with other tests. */
const LONG_MS = 60 * SECOND

const payoutGas = newAccount()
await network.fund(payoutGas.address)

const startTreasuryWorker = (): Promise<ServerProcess> =>
  market.startWorker({
    ...FREQUENT_SWEEPS,
    BASE_RPC_URLS: network.url,
    BASE_TREASURY_KEY: treasury.account.key,
    BASE_PAYOUT_GAS_KEYS: payoutGas.key,
  })

const alertsIn = (worker: ServerProcess) =>
  worker
    .output()
    .split('\n')
    // What comes after the last line break is not yet whole.
    .slice(0, -1)
    .filter((line) => line.includes('the treasury does not hold what it must'))
    .map((line) => JSON.parse(line))

test('shortage: the next snapshot pauses payouts and logs the line for alerts', async () => {
  await treasury.payIn(payer, 10_000_000n, { purpose: 'order:a', due: 10_000_000n })
  await settle()
  const worker = await startTreasuryWorker()
  try {
    const looks = () => market.db.selectFrom('reserve_snapshots').select('id').execute()
    await until('the worker has taken a snapshot', async () => (await looks()).length > 0, {
      withinMs: 20 * SECOND,
    })
    expect(await base()).toMatchObject({ open: true, short_usd: '0.00' })

    await network.transfer(treasury.account, newAccount().address, 2_000_000n)
    await network.mine(FINALITY)
    const isShort = async () => {
      await market.advance(SNAPSHOT_EVERY_MS)
      return (await base()).short_usd === '2.00'
    }
    await until('the shortage is in a snapshot', isShort, { withinMs: LONG_MS, everyMs: SECOND })
    expect(await base()).toMatchObject({ open: false, short_usd: '2.00' })
    await until('the alert is logged', () => alertsIn(worker).length > 0)
    // One for each snapshot.
    for (const alert of alertsIn(worker))
      expect(alert).toMatchObject({
        level: 'error',
        network: NETWORK,
        short_micros: '2000000',
        imbalance_micros: '0',
        msg: 'the treasury does not hold what it must; payouts on this network are paused',
      })
  } finally {
    await worker.stop()
  }
})

test('blocked payee: the payout fails, and the retry pays another payee', async () => {
  await treasury.payIn(payer, 5_000_000n, { purpose: 'order:a', due: 5_000_000n })
  await settle()
  const [blocked, other] = [newAccount(), newAccount()]
  await network.deny(blocked.address, true)
  const owed = { network: NETWORK, kind: 'payout', name: 'order-a', amount: usdc(4_500_000n) } as const
  const payout = await treasury.ctx.transact((tx) =>
    requestOwed(treasury.ctx, tx, { ...owed, payee: blocked.address }, escrow(NETWORK, 'order:a')),
  )
  await treasury.advance(payout)
  expect(await base()).toMatchObject({ waiting: 0, failed: 1 })
  expect(await get('payouts?state=failed')).toMatchObject([{ id: payout.id, payee: blocked.address }])
  const decided = await decideByTwo(market, 'redirect_payout', { payout_id: payout.id, payee: other.address })
  expect(decided.status).toBe(200)
  expect((await stateOf(payout)).state).toBe('queued')
  await pay(payout)
  expect((await stateOf(payout)).state).toBe('final')
  expect(await network.balanceOf(other.address)).toBe(4_500_000n)
  expect(await base()).toMatchObject({ waiting: 0, failed: 0 })
})

test('blocked payer: the refund of unmatched money fails, and goes where two operators redirect it', async () => {
  const [sender, other] = [await fundedPayer(network, 3_000_000n), newAccount()]
  await network.transfer(sender, treasury.account.address, 3_000_000n)
  await network.mine(CONFIRMATIONS)
  await treasury.watch()
  await settle()
  await network.deny(sender.address, true)
  const [found] = await get('unmatched-transfers')
  const { body } = await post(`unmatched-transfers/${found.id}/refund`, {})
  await treasury.advance(body.data)
  expect((await stateOf(body.data)).state).toBe('failed')
  await decideByTwo(market, 'redirect_payout', { payout_id: body.data.id, payee: other.address })
  await pay(body.data)
  expect((await stateOf(body.data)).state).toBe('final')
  expect(await network.balanceOf(other.address)).toBe(3_000_000n)
})

test('fees: leave as a fee withdrawal to an address of the configuration, and the treasury is not short', async () => {
  await treasury.payIn(payer, 10_000_000n, { purpose: 'order:a', due: 10_000_000n })
  await settle()
  await treasury.earn('order:a', 1_000_000n)
  const payload = { network: NETWORK, amount_usd: '0.75', payee: feeAddress.address }
  const decided = await decideByTwo(market, 'withdraw_fees', payload)
  expect(decided.status).toBe(200)
  const payout = await findPayoutOf(market.db, 'fee_withdrawal', decided.body.data.id)
  if (payout === undefined) throw new Error('no payout was requested')
  await pay(payout)
  expect((await stateOf(payout)).state).toBe('final')
  expect(await network.balanceOf(feeAddress.address)).toBe(750_000n)
  expect(await base()).toMatchObject({ fees_usd: '0.25', fees_withdrawn_usd: '0.75', short_usd: '0.00' })
  expect(await get('outgoing-transfers')).toEqual([])
  expect((await treasury.takeSnapshot()).short).toBe(0n)
})

test('mark used by another payment: the payout is held until that is written off, and is then paid with another mark', async () => {
  for (const purpose of ['order:a', 'order:b'])
    await treasury.payIn(payer, 5_000_000n, { purpose, due: 5_000_000n })
  await settle()
  const [payee, thief] = [newAccount(), newAccount()]
  const payout = await treasury.requestPayout('order:b', 5_000_000n, payee.address)
  // Whoever has the treasury's key can authorize another payment with the nonce of this payout.
  const stolen = await treasury.sender.sign(
    { mark: markOf(NETWORK, payout), to: thief.address, amount: usdc(1_000_000n) },
    0,
  )
  const reference = await network.call(payer, network.usdc, stolen.bytes as Hex)
  await settle()
  await treasury.advance(payout)
  expect(await get('payouts?state=held')).toMatchObject([{ id: payout.id, hold_code: 'transfer_mismatch' }])
  expect(await get('outgoing-transfers')).toMatchObject([
    { reference, payout_id: payout.id, payee: thief.address.toLowerCase(), amount_usd: '1.00' },
  ])
  await treasury.earn('order:a', 1_000_000n)
  expect((await post(`outgoing-transfers/${NETWORK}:${reference}/write-off`, {})).status).toBe(200)
  for (let step = 0; step < 2; step++) await pay(payout)
  expect((await stateOf(payout)).state).toBe('final')
  expect(await network.balanceOf(payee.address)).toBe(5_000_000n)
  expect(await network.balanceOf(thief.address)).toBe(1_000_000n)
  expect((await treasury.takeSnapshot()).short).toBe(0n)
})
