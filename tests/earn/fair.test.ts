import { requestWithdrawal } from '@market/earn/withdrawals'
import { MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import type { PayoutContext } from '@market/money/payouts'
import { afterEach, beforeEach, expect, test } from 'vitest'
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

const PER_PAYOUT = usdc(1_000n * USD)
/** The gauntlet asks 1,300 times. */
const DUST = Number(process.env['EARN_DUST'] ?? 130)

let world: EarnWorld
beforeEach(async () => {
  world = await startEarnWorld('lending')
  await step(world)
})
afterEach(() => world.stop())

const withCaps = (caps: Partial<PayoutContext['caps']>): void => {
  world.payouts = { ...world.payouts, caps: { ...CAPS, ...caps } }
}
const lostBy = async ({ address }: Depositor): Promise<bigint> =>
  10_000n * USD - (await world.network.balanceOf(address))
const countSent = async (): Promise<number> =>
  (await world.database.db.selectFrom('outgoing_transactions').select('reference').execute()).length

test('two equal depositors share a later loss, whoever asks first', async () => {
  const [ann, bob] = [await enter(world, 100n * USD), await enter(world, 100n * USD)]
  await world.vault.borrow(200n * USD)
  await withdraw(world, ann, null)
  await world.vault.badDebt(90n * USD)
  await world.vault.repay(110n * USD, 0n)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  await withdraw(world, bob, null)
  await stepUntil(world, 'bob is paid', () => isPaid(world, bob))
  for (const one of [ann, bob]) {
    const lost = await lostBy(one)
    expect(lost).toBeGreaterThanOrEqual(45n * USD)
    expect(lost).toBeLessThanOrEqual(45n * USD + 5n)
  }
  await expectWhole(world)
})

test('what the vault pays now is shared among all who wait, not given to the first', async () => {
  const [ann, bob] = [await enter(world, 100n * USD), await enter(world, 100n * USD)]
  await world.vault.borrow(200n * USD)
  await withdraw(world, ann, null)
  await withdraw(world, bob, null)
  await world.vault.repay(100n * USD, 0n)
  await stepUntil(world, 'both got a part', async () => ((await withdrawalOf(world, bob))?.filled ?? 0n) > 0n)
  expect((await withdrawalOf(world, ann))?.filled).toBe((await withdrawalOf(world, bob))?.filled)
  await world.vault.badDebt(90n * USD)
  await world.vault.repay(10n * USD, 0n)
  world.clock.advance(10 * MINUTE)
  for (const one of [ann, bob]) await stepUntil(world, 'all is paid', () => isPaid(world, one))
  const [first, second] = [await lostBy(ann), await lostBy(bob)]
  expect(first - second).toBeLessThanOrEqual(2n)
  expect(second - first).toBeLessThanOrEqual(2n)
  await expectWhole(world)
})

test(`${DUST} dust withdrawals are rejected as below_minimum and cost no gas`, async () => {
  const mallory = await enter(world, 100n * USD)
  const before = await countSent()
  for (let n = 0; n < DUST; n++) {
    const asked = await requestDust(mallory)
    if (n % 100 === 99) await step(world)
    expect(asked.status).toBe('requested')
  }
  for (let round = 0; round < 3; round++) await step(world)
  const rows = await world.database.db.selectFrom('earn_withdrawals').select(['status', 'failure']).execute()
  expect(new Set(rows.map(({ status, failure }) => `${status} ${failure}`))).toEqual(
    new Set(['rejected below_minimum']),
  )
  expect(rows).toHaveLength(DUST)
  expect(await countSent()).toBe(before)
  expect((await positionOf(world, mallory))?.shares).toBe(100n * 10n ** 12n)
})

const requestDust = ({ actor }: Depositor) =>
  requestWithdrawal({ ...world.ctx, actor }, actor, {
    key: undefined,
    shares: 2_000_000n,
    destination: undefined,
  })

test('two deposits of 600 are deployed with a payout cap of 1,000, and so is one of 2,500', async () => {
  withCaps({ perPayout: PER_PAYOUT })
  const [ann, bob, cay] = [await newDepositor(world), await newDepositor(world), await newDepositor(world)]
  await deposit(world, ann, 600n * USD)
  await deposit(world, bob, 600n * USD)
  await deposit(world, cay, 2_500n * USD)
  for (const one of [ann, bob, cay])
    await stepUntil(world, 'it has shares', async () => (await statusOf(world, one)) === 'active', 120)
  expect((await positionOf(world, cay))?.value).toBeGreaterThanOrEqual(2_500n * USD - 6n)
  const moved = await world.database.db.selectFrom('venue_transfers').select('amount_micros').execute()
  for (const { amount_micros } of moved) expect(amount_micros).toBeLessThanOrEqual(PER_PAYOUT)
  expect(moved.reduce((sum, { amount_micros }) => sum + (amount_micros ?? 0n), 0n)).toBe(3_700n * USD)
  await withdraw(world, cay, null)
  await stepUntil(world, 'cay is paid in parts', () => isPaid(world, cay))
  expect((await withdrawalOf(world, cay))?.fills).toHaveLength(3)
  await expectWhole(world)
})

test('withdrawals up to what was deposited use up no cap, and what was gained uses only that of Earn', async () => {
  withCaps({ perPayout: PER_PAYOUT, perDay: usdc(150n * USD), perPayee: usdc(150n * USD) })
  const [ann, bob] = [await enter(world, 400n * USD), await enter(world, 400n * USD)]
  for (const one of [ann, bob]) {
    await withdraw(world, one, 200n * 10n ** 12n)
    await stepUntil(world, 'it is paid', () => isPaid(world, one))
    await withdraw(world, one, 190n * 10n ** 12n)
    await stepUntil(world, 'the rest is paid', () => isPaid(world, one))
  }
  const counted = () =>
    world.database.db
      .selectFrom('payout_counters')
      .select(['scope', 'capped_micros'])
      .where('capped_micros', '>', 0n)
      .execute()
  expect(await counted()).toEqual([])
  // The last shares of both gain 100 USD: they are worth more than what was paid in.
  await world.vault.repay(0n, 200n * USD)
  await step(world)
  await withdraw(world, ann, null)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  expect((await counted()).map(({ scope }) => scope).toSorted()).toEqual([
    'earn',
    `payee:${ann.address.toLowerCase()}`,
  ])
})
