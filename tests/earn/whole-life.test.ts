import { listPools } from '@market/earn/pools'
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

test('a withdrawal that the venue cannot pay waits, keeps gaining, and is paid in parts as money comes back', async () => {
  await world.vault.borrow(140n * USD)
  await step(world)
  const { status, isLiquid, amount, isFinal, waitsFor } = await withdraw(world, ann, null)
  expect({ status, isLiquid, amount, isFinal, waitsFor }).toEqual({
    ...{ status: 'queued', isLiquid: false, amount: 100n * USD, isFinal: false, waitsFor: 'liquidity' },
  })
  expect(await positionOf(world, ann)).toMatchObject({ shares: 0n, queuedValue: 100n * USD })
  const before = await world.network.balanceOf(ann.address)
  await stepUntil(
    world,
    'ann got what was liquid',
    async () => (await world.network.balanceOf(ann.address)) > before,
  )
  expect((await world.network.balanceOf(ann.address)) - before).toBeLessThanOrEqual(10n * USD)
  await world.vault.repay(140n * USD, 3n * USD)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  // Of the interest, the shares that were open have their part.
  const got = (await world.network.balanceOf(ann.address)) - before
  expect(got).toBeGreaterThan(101n * USD)
  expect((await positionOf(world, bob))?.value).toBeGreaterThan(51n * USD)
  expect(await withdrawalOf(world, ann)).toMatchObject({ amount: got, isFinal: true, filled: got })
  expect((await withdrawalOf(world, ann))?.fills.length).toBeGreaterThan(1)
  expect((await pool())?.queuedWithdrawals).toBe(0n)
  await expectWhole(world)
})
