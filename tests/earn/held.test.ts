import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { enter, failureOf, isPaid, statusOf } from './depositors.ts'
import {
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
beforeAll(async () => {
  world = await startEarnWorld('lending')
  await step(world)
})
afterAll(() => world.stop())

test('a receipt that is not what was asked for holds its deposit for operators, and the wallet is free for others', async () => {
  const ann = await enter(world, 100n * USD)
  const bob = await newDepositor(world)
  await deposit(world, bob, 50n * USD)
  world.useVenue({
    ...world.realVenue,
    receiptOf: () => Promise.reject(new Error('the receipt has two deposits')),
  })
  const errors: unknown[] = []
  for (let round = 0; round < 40 && (await statusOf(world, bob)) !== 'held'; round++) {
    await world.network.mine(9)
    await step(world).catch((error: unknown) => errors.push(error))
  }
  expect(await statusOf(world, bob)).toBe('held')
  expect(await failureOf(world, bob)).toContain('two deposits')
  // Once: the sweep fails, so that operators see it, and then the move is left alone.
  expect(errors).toHaveLength(1)

  world.useVenue(world.realVenue)
  await withdraw(world, ann, null)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  expect(10_000n * USD - (await world.network.balanceOf(ann.address))).toBeLessThanOrEqual(1n)
  await expectWhole(world)
})
