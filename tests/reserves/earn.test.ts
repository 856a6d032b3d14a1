import { findPoolParts } from '@market/earn/pools'
import { usdc } from '@market/kernel/money'
import { type Account, escrow, pool, post, suspense, totals, venue, withdrawal } from '@market/money/ledger'
import { type Payout, requestPayout } from '@market/money/payouts'
import { proveLiabilities, takeReserveSnapshot } from '@market/reserves/snapshots'
import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
await network.mint(payer.address, 1_000_000_000n)
afterAll(() => network.stop())

const KEY = 'morpho:usdc'
const MOVE = 'emv_1'
const DEPOSIT = 'earn_deposit:edp_1'
const AMOUNT = 100_000_000n

let treasury: Treasury
beforeEach(async () => {
  const database = await testDatabase()
  treasury = await openTreasury(database.db, network)
  await treasury.payIn(payer, AMOUNT, { purpose: DEPOSIT, due: AMOUNT })
  return database.stop
})

const move = (from: Account, to: Account, micros: bigint) =>
  treasury.ctx.transact((tx) =>
    post(treasury.ctx, tx, {
      key: `test:${treasury.ctx.ids.next('jrn')}`,
      reason: 'test',
      subject: KEY,
      network: NETWORK,
      moves: [{ from, to, amount: usdc(micros) }],
    }),
  )

const moveToVenue = (wallet: string): Promise<Payout> =>
  treasury.ctx.transact((tx) =>
    requestPayout(treasury.ctx, tx, {
      ...{ network: NETWORK, kind: 'move_to_venue', subject: MOVE, payee: wallet, amount: usdc(AMOUNT) },
      from: venue(NETWORK, MOVE),
    }),
  )

/** A deposit of 100 USD whose shares exist: the money is in the vault, which kept one micro-dollar of it. */
async function deposited(): Promise<void> {
  const payout = await moveToVenue(newAccount().address)
  await treasury.advance(payout)
  await network.mine(FINALITY)
  await treasury.watch()
  await treasury.advance(payout)
  await move(escrow(NETWORK, DEPOSIT), venue(NETWORK, MOVE), AMOUNT)
  await move(venue(NETWORK, KEY), pool(NETWORK, KEY), AMOUNT - 1n)
}

const snapshot = async () => {
  const { short, latest, balances } = await treasury.takeSnapshot(true)
  const { ledger, inFlight, venues, escrow, payable, earn } = balances
  return { short, latest, ledger, inFlight, venues, escrow, payable, earn }
}

test('money that moves to a venue is in the treasury until it has left, and then in the venue', async () => {
  const wallet = newAccount()
  const before = { short: 0n, ledger: AMOUNT, venues: 0n, escrow: AMOUNT, payable: 0n, earn: 0n }
  expect(await snapshot()).toEqual({ ...before, latest: AMOUNT, inFlight: 0n })
  const payout = await moveToVenue(wallet.address)
  expect(await snapshot()).toEqual({ ...before, latest: AMOUNT, inFlight: 0n })
  await treasury.advance(payout)
  expect(await snapshot()).toEqual({ ...before, latest: 0n, inFlight: AMOUNT })
  await network.mine(FINALITY)
  await treasury.watch()
  await treasury.advance(payout)
  expect(await network.balanceOf(wallet.address)).toBe(AMOUNT)
  expect(await snapshot()).toEqual({ ...before, latest: 0n, inFlight: 0n, ledger: 0n, venues: AMOUNT })
})

test('a pool with money in a venue balances, and its equity and withdrawals are leaves', async () => {
  await deposited()
  await move(venue(NETWORK, KEY), pool(NETWORK, KEY), 5_000_000n)
  await move(pool(NETWORK, KEY), withdrawal(NETWORK, 'ewd_1'), 40_000_000n)
  const taken = await treasury.takeSnapshot(true)
  const value = AMOUNT - 1n + 5_000_000n
  expect(taken).toMatchObject({ short: 0n, balances: { ledger: 0n, venues: value, earn: value } })
  expect(await treasury.leavesOf(taken.id)).toEqual([
    { account_id: `pool:${NETWORK}:${KEY}`, holder: null, amount_micros: value - 40_000_000n },
    { account_id: `withdrawal:${NETWORK}:ewd_1`, holder: null, amount_micros: 40_000_000n },
  ])
  expect(await totals(treasury.ctx.db, NETWORK)).toMatchObject({ venuesView: value, imbalance: 0n })
})

test('every depositor of a pool has a leaf, and what rounding left is one without a holder', async () => {
  await deposited()
  const { ctx } = treasury
  const at = ctx.clock.now()
  const shares = { 'user:u': '60000000000000', 'wallet:0xa': '39999999999999', 'agent:gone': '0' }
  await ctx.db
    .insertInto('earn_pools')
    .values({
      ...{ key: KEY, network: NETWORK, kind: 'lending', created_at: at, total_shares: '99999999999999' },
      ...{ vault: `0x${'a'.repeat(40)}`, wallet: `0x${'b'.repeat(40)}`, paused: null },
    })
    .execute()
  for (const [holder, of] of Object.entries(shares))
    await ctx.db
      .insertInto('earn_positions')
      .values({ pool_key: KEY, holder, shares: of, principal_micros: 1n, updated_at: at })
      .execute()
  const taken = await takeReserveSnapshot({ ...ctx, earnHolders: findPoolParts }, NETWORK, {
    withProof: true,
  })
  const leaf = { account_id: `pool:${NETWORK}:${KEY}` }
  expect(await treasury.leavesOf(taken?.id ?? '')).toEqual(
    expect.arrayContaining([
      { ...leaf, holder: 'user:u', amount_micros: 59_999_999n },
      { ...leaf, holder: 'wallet:0xa', amount_micros: 39_999_999n },
      { ...leaf, holder: null, amount_micros: 1n },
    ]),
  )
  expect(taken).toMatchObject({ short: 0n, proof: { leaves: 3 } })
  const { proofs } = await proveLiabilities(ctx, { proven: ['user:u'], payees: [] }, { limit: 9 })
  expect(proofs.map(({ leaf }) => leaf)).toMatchObject([{ holder: 'user:u', micros: 59_999_999n }])
})

test('a micro-dollar that is missing in the treasury shows, whatever venues hold', async () => {
  await deposited()
  await treasury.payIn(payer, 10_000_000n, { purpose: treasury.somePurpose(), due: 10_000_000n })
  expect(await snapshot()).toMatchObject({ short: 0n, latest: 10_000_000n, venues: AMOUNT - 1n })
  await network.transfer(treasury.account, payer.address, 1n)
  await network.mine(FINALITY)
  expect(await snapshot()).toMatchObject({ short: 1n })
})

test('money that came back from a venue is unmatched until it is posted to its move', async () => {
  await deposited()
  await move(venue(NETWORK, 'emv_2'), venue(NETWORK, KEY), 30_000_000n)
  const reference = await treasury.payIn(payer, 30_000_000n)
  expect(await snapshot()).toMatchObject({ short: 0n, ledger: 30_000_000n, venues: AMOUNT - 1n })
  await move(suspense(NETWORK, reference), venue(NETWORK, 'emv_2'), 30_000_000n)
  expect(await snapshot()).toMatchObject({ short: 0n, ledger: 30_000_000n, venues: AMOUNT - 30_000_001n })
})
