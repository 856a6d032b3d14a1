import { listPools } from '@market/earn/withdrawals'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { isPaid, positionOf, statusOf, withdrawalOf } from './depositors.ts'
import {
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

let world: EarnWorld
let ann: Depositor
let bob: Depositor
beforeAll(async () => {
  world = await startEarnWorld('lending')
  ann = await newDepositor(world)
  bob = await newDepositor(world)
  await step(world)
})
afterAll(() => world.stop())

const pool = async () => (await listPools(world.ctx, world.ctx.earnMarkets))[0]

test('the first deposit into a fresh pool is at least 100 USD', async () => {
  await expect(deposit(world, ann, 100n * USD - 1n)).rejects.toMatchObject({
    extra: { code: 'below_first_minimum' },
  })
})

test('two deposits become shares of the same price', async () => {
  await deposit(world, ann, 100n * USD)
  await stepUntil(world, 'ann has shares', async () => (await statusOf(world, ann)) === 'active')
  await deposit(world, bob, 50n * USD)
  await stepUntil(world, 'bob has shares', async () => (await statusOf(world, bob)) === 'active')
  expect(await positionOf(world, ann)).toMatchObject({ principal: 100n * USD, value: 100n * USD })
  expect(await positionOf(world, bob)).toMatchObject({ principal: 50n * USD, value: 50n * USD })
  await expectWhole(world)
})

test('a withdrawal that the venue cannot pay waits, and is paid in parts as money comes back', async () => {
  await world.vault.borrow(140n * USD)
  const { status, wasLiquid, amount } = await withdraw(world, ann, null)
  expect({ status, wasLiquid, amount }).toEqual({ status: 'queued', wasLiquid: false, amount: 100n * USD })
  expect(await positionOf(world, ann)).toBeUndefined()
  const before = await world.network.balanceOf(ann.address)
  await stepUntil(
    world,
    'ann got what was liquid',
    async () => (await world.network.balanceOf(ann.address)) > before,
  )
  expect((await world.network.balanceOf(ann.address)) - before).toBe(10n * USD)
  await world.vault.repay(140n * USD, 3n * USD)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  expect((await world.network.balanceOf(ann.address)) - before).toBe(100n * USD)
  expect((await withdrawalOf(world, ann))?.fills.length).toBeGreaterThan(1)
  // The interest is of those who stayed.
  expect((await positionOf(world, bob))?.value).toBeGreaterThanOrEqual(53n * USD - 2n)
  expect((await pool())?.queuedWithdrawals).toBe(0n)
  await expectWhole(world)
})
