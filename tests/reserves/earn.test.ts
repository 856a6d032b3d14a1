import { findEarnHolders } from '@market/earn/withdrawals'
import { usdc } from '@market/kernel/money'
import { type Account, escrow, post, suspense, totals, venue, withdrawal } from '@market/money/ledger'
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
const EWD = 'ewd_1_00000000000000000'
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

/** A deposit of 100 USD whose shares exist: the money is in the vault, and belongs to a pool. */
async function deposited(): Promise<void> {
  const payout = await moveToVenue(newAccount().address)
  await treasury.advance(payout)
  await network.mine(FINALITY)
  await treasury.watch()
  await treasury.advance(payout)
  await move(escrow(NETWORK, DEPOSIT), venue(NETWORK, MOVE), AMOUNT)
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

test('what a pool has in a vault is no liability, and no part of what the treasury must hold', async () => {
  await deposited()
  const taken = await treasury.takeSnapshot(true)
  expect(taken).toMatchObject({ short: 0n, balances: { ledger: 0n, venues: 0n, earn: 0n } })
  expect(await treasury.leavesOf(taken.id)).toEqual([])
  expect(await totals(treasury.ctx.db, NETWORK)).toMatchObject({ venuesView: 0n, imbalance: 0n })
})

test('a micro-dollar that is missing in the treasury shows, whatever venues hold', async () => {
  await deposited()
  await treasury.payIn(payer, 10_000_000n, { purpose: treasury.somePurpose(), due: 10_000_000n })
  expect(await snapshot()).toMatchObject({ short: 0n, latest: 10_000_000n, venues: 0n })
  await network.transfer(treasury.account, payer.address, 1n)
  await network.mine(FINALITY)
  expect(await snapshot()).toMatchObject({ short: 1n })
})

test('what a vault paid is unmatched until it is posted to its withdrawals, whose wallets have a leaf', async () => {
  await deposited()
  const reference = await treasury.payIn(payer, 30_000_000n)
  expect(await snapshot()).toMatchObject({ short: 0n, ledger: 30_000_000n, earn: 0n })
  await move(suspense(NETWORK, reference), withdrawal(NETWORK, EWD), 30_000_000n)
  const { ctx } = treasury
  const at = ctx.clock.now()
  const wallet = `0x${'b'.repeat(40)}`
  await ctx.db
    .insertInto('earn_pools')
    .values({
      key: KEY,
      network: NETWORK,
      kind: 'lending',
      vault: `0x${'a'.repeat(40)}`,
      wallet,
      created_at: at,
    })
    .execute()
  await ctx.db
    .insertInto('earn_withdrawals')
    .values({
      ...{ id: EWD, pool_key: KEY, holder: `wallet:${wallet}`, destination: wallet, status: 'queued' },
      ...{ burned_shares: '1', paid_micros: 30_000_000n, created_at: at, updated_at: at },
    })
    .execute()
  const options = { withProof: true }
  const taken = await takeReserveSnapshot({ ...ctx, earnHolders: findEarnHolders }, NETWORK, options)
  expect(taken).toMatchObject({ short: 0n, balances: { ledger: 30_000_000n, earn: 30_000_000n } })
  expect(await treasury.leavesOf(taken?.id ?? '')).toEqual([
    { account_id: `withdrawal:${NETWORK}:${EWD}`, holder: wallet, amount_micros: 30_000_000n },
  ])
  const query = { snapshotId: taken?.id, limit: 9 }
  const { proofs } = await proveLiabilities(ctx, { proven: [wallet], payees: [] }, query)
  expect(proofs.map(({ leaf }) => leaf)).toMatchObject([{ holder: wallet, micros: 30_000_000n }])
})
