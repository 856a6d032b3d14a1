import { requestWithdrawal } from '@market/earn/withdrawals'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { enter, isPaid, positionOf, statusOf } from './depositors.ts'
import { type CrashPoint, dyingVenue } from './dying-venue.ts'
import {
  type Depositor,
  deposit,
  type EarnWorld,
  newDepositor,
  startEarnWorld,
  step,
  stepUntil,
  USD,
} from './earn-world.ts'

const AMOUNT = 10n * USD
/** What a new depositor has. */
const START = 10_000n

let world: EarnWorld
beforeAll(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  await enter(world, 100n * USD)
})
afterAll(() => world.stop())

const balanceOf = ({ address }: Depositor) => world.network.balanceOf(address)

/** A worker that dies at the point takes rounds until it is dead. Another one begins where the database is. */
async function crash(point: CrashPoint): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isDead = false
  world.useVenue(
    dyingVenue(world.realVenue, point, () => {
      isDead = true
      resolve()
    }),
  )
  for (let round = 0; round < 40 && !isDead; round++) {
    await world.network.mine(9)
    await Promise.race([step(world), promise])
  }
  world.useVenue(world.realVenue)
  expect(isDead).toBe(true)
}

const POINTS_OF_STEP = [
  'before it signs',
  'signed, not stored',
  'stored, not sent',
  'sent, not known',
  'final, not recorded',
] as const
/** All steps are sent by the same code: CI kills a deposit at each point, the other steps between sending and recording. */
const POINTS_OF_OTHERS = process.env['EARN_CRASHES'] === 'all' ? POINTS_OF_STEP : POINTS_OF_STEP.slice(2, 4)

const DEPOSIT: CrashPoint[] = [
  ...POINTS_OF_OTHERS.map((at) => ({ at, step: 'approve' as const })),
  { at: 'funded, not recorded' },
  ...POINTS_OF_STEP.map((at) => ({ at, step: 'deposit' as const })),
  { at: 'receipt read, not recorded' },
]
const WITHDRAW: CrashPoint[] = [
  { at: 'asked, not begun' },
  ...POINTS_OF_OTHERS.map((at) => ({ at, step: 'redeem' as const })),
  { at: 'receipt read, not recorded' },
]

const nameOf = (point: CrashPoint) => ('step' in point ? `${point.step}: ${point.at}` : point.at)

describe('a worker that dies while a deposit is deployed', () => {
  test.each(DEPOSIT.map((point) => [nameOf(point), point] as const))('%s', async (_, point) => {
    const depositor = await newDepositor(world)
    const before = await world.vault.sharesOf(world.wallet)
    await deposit(world, depositor, AMOUNT)
    await crash(point)
    await stepUntil(
      world,
      'the deposit has shares',
      async () => (await statusOf(world, depositor)) === 'active',
    )
    const position = await positionOf(world, depositor)
    expect(position).toMatchObject({ principal: AMOUNT })
    expect(AMOUNT - (position?.value ?? 0n)).toBeLessThanOrEqual(1n)
    const after = await world.vault.sharesOf(world.wallet)
    const { assets } = await world.realVenue.redeemable(after - before)
    expect(AMOUNT - assets).toBeLessThanOrEqual(1n)
    expect(await balanceOf(depositor)).toBe(START * USD - AMOUNT)
    await expectWhole(world)
  })
})

describe('a worker that dies while a withdrawal is paid', () => {
  test.each(WITHDRAW.map((point) => [nameOf(point), point] as const))('%s', async (_, point) => {
    const depositor = await enter(world, AMOUNT)
    const { actor } = depositor
    const wanted = { key: undefined, shares: null, destination: undefined }
    await requestWithdrawal({ ...world.ctx, actor }, actor, wanted)
    await crash(point)
    await stepUntil(world, 'the depositor is paid', () => isPaid(world, depositor))
    const back = await balanceOf(depositor)
    expect(START * USD - back).toBeLessThanOrEqual(1n)
    expect(await positionOf(world, depositor)).toBeUndefined()
    await expectWhole(world)
  })
})
