import { settleDeposits } from '@market/earn/deposits'
import { advanceVenueTransfers } from '@market/earn/venue-transfers'
import { settleWithdrawals } from '@market/earn/withdrawals'
import { MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { expectWhole } from './check-whole.ts'
import { enter, isPaid, positionOf, statusOf, withdrawalOf } from './depositors.ts'
import {
  CAPS,
  type Depositor,
  deposit,
  type EarnWorld,
  newDepositor,
  startEarnWorld,
  step,
  stepUntil,
  USD,
  withdraw,
} from './earn-world.ts'

const INTEREST = 20n * USD

let world: EarnWorld
let ann: Depositor
let bob: Depositor
let cleo: Depositor
beforeAll(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  ann = await enter(world, 100n * USD)
  bob = await enter(world, 100n * USD)
  cleo = await newDepositor(world)
})
afterAll(() => world.stop())

/** Rounds in which blocks come, but so few that what was sent last is not final. */
async function stepShortly(isTrue: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 20; round++) {
    if (await isTrue()) return
    await step(world)
    await world.network.mine(1)
  }
  throw new Error('not within 20 rounds')
}

test('withdraw: shares that a recall has redeemed do not count twice while its transaction is not final', async () => {
  const before = await world.vault.sharesOf(world.wallet)
  await withdraw(world, ann, null)
  await stepShortly(async () => (await world.vault.sharesOf(world.wallet)) < before)
  await world.vault.repay(0n, INTEREST)
  const requested = await withdraw(world, bob, null)
  expect(requested).toMatchObject({ status: 'queued', isFinal: false })
  await stepUntil(world, 'bob is paid', () => isPaid(world, bob))
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  expect((await withdrawalOf(world, ann))?.amount).toBe(100n * USD)
  const amount = (await withdrawalOf(world, bob))?.amount ?? 0n
  expect(amount).toBeGreaterThanOrEqual(100n * USD + INTEREST - 5n)
  expect(amount).toBeLessThanOrEqual(100n * USD + INTEREST)
  await expectWhole(world)
})

const stateOfNewest = async (kind: string): Promise<string | undefined> => {
  const row = await world.database.db
    .selectFrom('venue_transfers')
    .select('state')
    .where('kind', '=', kind)
    .orderBy('created_at', 'desc')
    .executeTakeFirst()
  return row?.state
}

test('deposit: gets its shares before a withdrawal that waits takes its money out of the vault', async () => {
  const dora = await enter(world, 100n * USD)
  const lent = (await world.network.balanceOf(world.vault.address)) - 10n * USD
  await world.vault.borrow(lent)
  // A recall of a part comes ten minutes after the one before.
  world.clock.advance(10 * MINUTE)
  await step(world)
  await withdraw(world, dora, null)
  await stepUntil(
    world,
    'what is liquid was paid',
    async () => ((await withdrawalOf(world, dora))?.filled ?? 0n) > 0n,
  )
  await deposit(world, cleo, usdc(100n * USD))
  const earn = { ...world.ctx, venues: world.venues, caps: CAPS }
  await stepUntil(
    world,
    'the deposit is on its way',
    async () => (await stateOfNewest('deploy')) === 'depositing',
  )
  for (let round = 0; round < 20 && (await stateOfNewest('deploy')) !== 'done'; round++) {
    await world.network.mine(FINALITY)
    await advanceVenueTransfers(earn)
  }
  await settleWithdrawals(earn)
  expect(await stateOfNewest('recall')).toBe('done')
  await settleDeposits(earn)
  expect(await statusOf(world, cleo)).toBe('active')
  await settleWithdrawals(earn)
  expect(await stateOfNewest('recall')).toBe('withdrawing')
  await world.vault.repay(lent, INTEREST)
  await stepUntil(world, 'dora is paid', () => isPaid(world, dora))
  // Her 90 open shares had their part of the interest, and no more.
  expect((await withdrawalOf(world, dora))?.amount).toBeLessThanOrEqual(
    100n * USD + (INTEREST * 9n) / 19n + 5n,
  )
  expect((await positionOf(world, cleo))?.value).toBeLessThanOrEqual(100n * USD + INTEREST)
  await expectWhole(world)
})
