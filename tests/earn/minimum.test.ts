import { DAY } from '@market/kernel/clock'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { enter, isPaid, isRefunded, positionOf, statusOf } from './depositors.ts'
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

const SHARE = 10n ** 12n
const DUST = 3n
const CENTS_40 = 400_000n

let world: EarnWorld
let ann: Depositor
beforeEach(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  ann = await enter(world, 100n * USD)
})
afterEach(() => world.stop())

const sentOf = async () => [
  await world.database.db.selectFrom('payouts').select('id').execute(),
  await world.database.db.selectFrom('venue_transfers').select('id').execute(),
]
const steps = async (rounds: number): Promise<void> => {
  for (let n = 0; n < rounds; n++) {
    await world.network.mine(10)
    await step(world)
  }
}

async function deposited(micros: bigint): Promise<Depositor> {
  const depositor = await newDepositor(world)
  await deposit(world, depositor, micros)
  return depositor
}

test('deposits of less than 1 USD in all stay received, and go to the venue together with a larger one', async () => {
  const before = await sentOf()
  const [dust, small] = [await deposited(DUST), await deposited(CENTS_40)]
  await steps(4)
  expect([await statusOf(world, dust), await statusOf(world, small)]).toEqual(['received', 'received'])
  expect(await sentOf()).toEqual(before)
  const large = await deposited(10n * USD)
  for (const one of [large, small, dust])
    await stepUntil(world, 'the deposit has shares', async () => (await statusOf(world, one)) === 'active')
  await expectWhole(world)
})

test('after 30 days a deposit that no others joined is refunded; one below the minimum payout stays, shown', async () => {
  const [dust, small] = [await deposited(DUST), await deposited(CENTS_40)]
  await steps(4)
  world.clock.advance(30 * DAY)
  await stepUntil(world, 'the larger one is refunded', () => isRefunded(world, small))
  expect(await world.network.balanceOf(small.address)).toBe(10_000n * USD)
  await steps(2)
  expect(await statusOf(world, dust)).toBe('received')
  expect(await world.network.balanceOf(dust.address)).toBe(10_000n * USD - DUST)
})

test('a venue that takes nothing: the large deposit is refunded, and one below the minimum payout is received again', async () => {
  const dust = await deposited(DUST)
  const large = await deposited(10n * USD)
  await stepUntil(world, 'both are on their way', async () => (await statusOf(world, dust)) === 'deploying')
  await world.vault.pause(true)
  await stepUntil(world, 'the large one is refunded', () => isRefunded(world, large))
  expect(await statusOf(world, dust)).toBe('received')
  await world.vault.pause(false)
  await deposited(10n * USD)
  await stepUntil(world, 'the dust has shares', async () => (await statusOf(world, dust)) === 'active')
})

test('withdraw: less than 1 USD is rejected unless it is all, and nothing is burned or sent', async () => {
  const before = await sentOf()
  for (const shares of [2_000_000n, SHARE - SHARE / 100n])
    await expect(withdraw(world, ann, shares)).rejects.toMatchObject({ extra: { code: 'below_minimum' } })
  expect((await positionOf(world, ann))?.shares).toBe(100n * SHARE)
  expect(await sentOf()).toEqual(before)
  const { shares = 0n } = (await positionOf(world, ann)) ?? {}
  await withdraw(world, ann, shares - SHARE / 2n)
  await stepUntil(world, 'the larger part is paid', () => isPaid(world, ann))
  await withdraw(world, ann, null)
  await stepUntil(world, 'the rest is paid', () => isPaid(world, ann))
  expect(await positionOf(world, ann)).toBeUndefined()
})

test('withdraw: all shares that are worth less than the minimum payout wait, shown, and cost nothing', async () => {
  const { shares = 0n } = (await positionOf(world, ann)) ?? {}
  await withdraw(world, ann, shares - SHARE / 50n)
  await stepUntil(world, 'the larger part is paid', () => isPaid(world, ann))
  const before = await sentOf()
  const rest = await withdraw(world, ann, null)
  expect(rest).toMatchObject({ status: 'queued', waitsFor: 'payout_minimum', openValue: 20_000n })
  await steps(4)
  expect(await sentOf()).toEqual(before)
  expect(await positionOf(world, ann)).toMatchObject({ shares: 0n, queuedShares: SHARE / 50n })
})
