import { usdc } from '@market/kernel/money'
import { balanceOf, cold, totals } from '@market/money/ledger'
import { findPayment, recheckTransfers } from '@market/money/payments'
import { findPayoutOf, moveToCold, type Payout } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount, question } from '../chains/evm-world.ts'
import { type Market, startMarket } from '../support/market.ts'
import { decideByTwo, operatorToken, proposeAs } from '../support/operator.ts'
import { rejected } from '../support/rejected.ts'
import { onAnyReversal } from '../support/reversals.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
await network.mint(payer.address, 1_000_000_000n)
afterAll(() => network.stop())

/** Its key exists only here, as the key of a cold address exists only offline. */
const coldAccount = newAccount()
await network.fund(coldAccount.address)
const COLD = coldAccount.address.toLowerCase()

let market: Market
let treasury: Treasury
beforeEach(async () => {
  market = await startMarket({
    BASE_RPC_URLS: network.url,
    BASE_TREASURY: newAccount().address,
    BASE_COLD_ADDRESS: coldAccount.address,
    BASE_HOT_MAX_USDC: '40',
  })
  treasury = await openTreasury(market.db, network, network.url, { cold: COLD })
  await treasury.payIn(payer, 100_000_000n, { purpose: 'order:a', due: 100_000_000n })
  return () => market.stop()
})

const ofBase = async () =>
  (await market.client().get('/api/admin/treasury', { bearer: await operatorToken(market) })).body.data[1]
const solvency = async () => (await market.client().get('/api/solvency')).body.data[0]

const move = (amount_usd: string) => decideByTwo(market, 'move_to_cold', { network: NETWORK, amount_usd })

async function moved(amount_usd: string): Promise<Payout> {
  const { status, body } = await move(amount_usd)
  expect(status).toBe(200)
  const payout = await findPayoutOf(market.db, 'move_to_cold', body.data.id)
  if (payout === undefined) throw new Error('no payout was requested')
  return payout
}

const stateOf = ({ id }: Payout) =>
  market.db
    .selectFrom('payouts')
    .select(['state', 'hold_code'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

/** As the workers do all the time. */
async function settle(payout?: Payout): Promise<void> {
  await network.mine(FINALITY)
  treasury.clock.advance(10_000)
  await treasury.watch()
  await recheckTransfers(treasury.ctx, onAnyReversal())
  if (payout !== undefined) await treasury.advance(payout)
}

test('what is above the maximum moves to the cold address when two operators approve, counts there, and comes back', async () => {
  expect(await ofBase()).toMatchObject({
    balance_usd: '100.00',
    hot_max_usd: '40.00',
    above_hot_max_usd: '60.00',
    cold_address: COLD,
    cold_usd: '0.00',
  })
  const payout = await moved('60.00')
  expect(payout).toMatchObject({ payee: COLD, amount: 60_000_000n })
  expect((await treasury.takeSnapshot(true)).short).toBe(0n)
  expect(await solvency()).toMatchObject({ assets_usd: '100.00', liabilities_usd: '100.00' })
  expect(await ofBase()).toMatchObject({ above_hot_max_usd: '0.00' })

  await treasury.advance(payout)
  expect(await stateOf(payout)).toMatchObject({ state: 'signed' })
  expect((await treasury.takeSnapshot()).short).toBe(0n)
  await settle(payout)
  expect(await stateOf(payout)).toMatchObject({ state: 'final' })
  expect(await network.balanceOf(coldAccount.address)).toBe(60_000_000n)
  const snapshot = await treasury.takeSnapshot(true)
  expect(snapshot).toMatchObject({
    short: 0n,
    latest: 100_000_000n,
    cold: { address: COLD, held: 60_000_000n },
  })
  expect(await ofBase()).toMatchObject({ balance_usd: '40.00', above_hot_max_usd: '0.00', cold_usd: '60.00' })
  expect(await solvency()).toMatchObject({
    assets_usd: '100.00',
    assets_final_usd: '100.00',
    liabilities_usd: '100.00',
    cold: { address: COLD, assets_usd: '60.00' },
    solvent: true,
  })

  await network.transfer(coldAccount, treasury.account.address, 60_000_000n)
  expect((await treasury.takeSnapshot()).short).toBe(0n)
  await settle()
  const after = await treasury.takeSnapshot()
  expect(after).toMatchObject({ short: 0n, cold: { held: 0n }, balances: { suspense: 0n } })
  expect(await totals(market.db, NETWORK)).toMatchObject({
    treasuryView: 100_000_000n,
    coldView: 0n,
    imbalance: 0n,
  })
})

test('money that the cold address sends beyond what was moved there stays unmatched', async () => {
  await network.mint(coldAccount.address, 7_000_000n)
  await network.transfer(coldAccount, treasury.account.address, 7_000_000n)
  await settle()
  expect(await treasury.takeSnapshot()).toMatchObject({ short: 0n, balances: { suspense: 7_000_000n } })
  expect(await balanceOf(market.db, cold(NETWORK, COLD))).toBe(0n)
})

test('a rest that came back is returned after a later move, and snapshots go on', async () => {
  const first = await moved('10.00')
  await treasury.advance(first)
  await settle(first)
  await network.mint(coldAccount.address, 1_000_000n)
  await network.transfer(coldAccount, treasury.account.address, 11_000_000n)
  await settle()
  expect(await treasury.takeSnapshot()).toMatchObject({ short: 0n, balances: { suspense: 1_000_000n } })
  const second = await moved('5.00')
  expect(await treasury.takeSnapshot()).toMatchObject({ short: 0n, balances: { suspense: 1_000_000n } })
  await treasury.advance(second)
  await settle(second)
  expect(await treasury.takeSnapshot()).toMatchObject({ short: 0n, balances: { suspense: 0n } })
  await network.transfer(coldAccount, payer.address, 5_000_000n)
})

test('a transfer from the cold address pays for nothing', async () => {
  await network.mint(coldAccount.address, 2_000_000n)
  const reference = await network.transfer(coldAccount, treasury.account.address, 2_000_000n)
  await network.mine(FINALITY)
  await expect(findPayment(treasury.ctx, NETWORK, question(reference))).rejects.toMatchObject({
    extra: { code: 'own_transfer' },
  })
})

test('money that is missing at the cold address is a shortage and stops payouts', async () => {
  const payout = await moved('60.00')
  await treasury.advance(payout)
  await settle(payout)
  await network.transfer(coldAccount, newAccount().address, 5_000_000n)
  await settle()
  expect((await treasury.takeSnapshot()).short).toBe(5_000_000n)
  expect(await ofBase()).toMatchObject({ open: false, short_usd: '5.00' })
  await network.transfer(coldAccount, payer.address, 55_000_000n)
})

test('a move that two operators did not approve, and one to an address that the worker does not know, are not signed', async () => {
  const { ctx } = treasury
  const forged = await ctx.transact((tx) =>
    moveToCold(ctx, tx, { network: NETWORK, amount: usdc(1_000_000n), address: COLD }, 'apr_forged'),
  )
  await treasury.advance(forged)
  expect(await stateOf(forged)).toEqual({ state: 'held', hold_code: 'order_mismatch' })

  const approved = await moved('1.00')
  const other = newAccount().address.toLowerCase()
  await market.db.updateTable('payouts').set({ payee: other }).where('id', '=', approved.id).execute()
  await treasury.advance(approved)
  expect(await stateOf(approved)).toEqual({ state: 'held', hold_code: 'order_mismatch' })
})

test('409: less than the minimum payout, more than the treasury can spare, and a network without a cold address', async () => {
  await treasury.requestPayout('order:a', 30_000_000n, newAccount().address)
  rejected(
    await proposeAs(market, 'move_to_cold', { network: NETWORK, amount_usd: '0.049999' }),
    409,
    'below_minimum',
  )
  rejected(
    await proposeAs(market, 'move_to_cold', { network: NETWORK, amount_usd: '70.01' }),
    409,
    'treasury_too_low',
  )
  expect((await proposeAs(market, 'move_to_cold', { network: NETWORK, amount_usd: '70.00' })).status).toBe(
    201,
  )
  rejected(
    await proposeAs(market, 'move_to_cold', { network: 'solana-mainnet', amount_usd: '1.00' }),
    409,
    'no_cold_address',
  )
})
