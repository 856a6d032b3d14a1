import { findPools, listMarkets } from '@market/earn/pools'
import type { TestVaultKind } from '@market/testing/evm-venues'
import { afterEach, describe, expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { enter, failureOf, isPaid, isRefunded, positionOf, statusOf, withdrawalOf } from './depositors.ts'
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
afterEach(() => world.stop())

const start = async (kind: TestVaultKind): Promise<void> => {
  world = await startEarnWorld(kind)
  await step(world)
}
const pausedEvent = (reason: string) => ({ event: 'earn.paused', pool: world.market.key, reason })
const pausedBy = async () => (await findPools(world.database.db))[0]?.paused
const balanceOf = ({ address }: { address: `0x${string}` }) => world.network.balanceOf(address)

describe('a lending vault', () => {
  test('bad debt is shared by those who have shares, and nobody else', async () => {
    await start('lending')
    const ann = await enter(world, 300n * USD)
    const bob = await enter(world, 100n * USD)
    await world.vault.borrow(100n * USD)
    await world.vault.badDebt(100n * USD)
    await step(world)
    expect((await positionOf(world, ann))?.value).toBeGreaterThanOrEqual(225n * USD - 2n)
    expect((await positionOf(world, bob))?.value).toBeLessThanOrEqual(75n * USD)
    const cyd = await enter(world, 100n * USD)
    // The vault and the pool round down, each by a micro-dollar at most.
    expect((await positionOf(world, cyd))?.value).toBeGreaterThanOrEqual(100n * USD - 2n)
    await expectWhole(world)
  })

  test('a total loss: everybody has 0, everybody can leave, and nothing stands still', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    const bob = await enter(world, 100n * USD)
    await world.vault.borrow(200n * USD)
    await step(world)
    expect((await withdraw(world, ann, null)).status).toBe('queued')
    await world.vault.badDebt(200n * USD)
    await step(world)
    expect(await positionOf(world, ann)).toMatchObject({ shares: 0n, queuedValue: 0n })
    expect(await withdraw(world, bob, null)).toMatchObject({ amount: 0n, waitsFor: 'payout_minimum' })
    expect(await positionOf(world, bob)).toMatchObject({ shares: 0n, queuedValue: 0n })
    expect(await pausedBy()).toBeNull()
    await expectWhole(world)
  })

  test('what somebody else gives to the vault is a gain of all, and vault shares given to the wallet change nothing', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    await world.vault.giveShares(world.wallet, 1_000n * USD)
    await step(world)
    expect((await positionOf(world, ann))?.value).toBeLessThanOrEqual(100n * USD)
    await world.vault.donate(11n * USD)
    await step(world)
    expect((await positionOf(world, ann))?.value).toBeGreaterThanOrEqual(100n * USD + 900_000n)
    await expectWhole(world)
  })

  test('a deposit gets no shares from a vault that was configured in place of its own', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    const bob = await newDepositor(world)
    await deposit(world, bob, 100n * USD)
    const { realVenue, market } = world
    const otherVault = { ...market, vault: `0x${'b'.repeat(40)}` }
    // The shares of the receipt cannot be read.
    const known = await world.vault.sharesOf(world.wallet)
    const read = (shares: bigint) =>
      shares > known ? Promise.reject(new Error('not now')) : realVenue.read(shares)
    world.useVenue({ ...realVenue, read })
    const isDone = async () =>
      (await world.database.db.selectFrom('venue_transfers').select('state').execute()).every(
        ({ state }) => state === 'done',
      )
    for (let round = 0; round < 20 && !((await isDone()) && round > 2); round++) {
      await world.network.mine(9)
      await step(world).catch(() => undefined)
    }
    world.useVenue({ ...realVenue, market: otherVault })
    for (let round = 0; round < 3; round++) await step(world)
    expect(await pausedBy()).toBe('wallet')
    expect(await statusOf(world, bob)).toBe('deploying')
    expect((await positionOf(world, ann))?.value).toBe(100n * USD)
    // Shares are taken at once, and wait until the configuration is as it was.
    world.useVenue(realVenue)
    await stepUntil(world, 'bob has shares', async () => (await statusOf(world, bob)) === 'active')
    await expectWhole(world)
  })

  test('vault shares that are gone without a payment are the loss of all shares, also of those that wait', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    const bob = await enter(world, 100n * USD)
    await world.vault.borrow(200n * USD)
    await withdraw(world, ann, null)
    await world.seize(50n)
    await world.vault.repay(200n * USD, 0n)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    // Nobody holds the seized half any more, so the vault is worth as much as before to nobody else.
    const lost = 10_000n * USD - (await balanceOf(ann))
    expect(lost).toBeGreaterThanOrEqual(50n * USD)
    expect(lost).toBeLessThanOrEqual(50n * USD + 5n)
    await step(world)
    expect((await positionOf(world, bob))?.value).toBeGreaterThanOrEqual(50n * USD - 5n)
    expect((await positionOf(world, bob))?.value).toBeLessThanOrEqual(50n * USD)
    await expectWhole(world)
  })

  test('a vault that takes no deposits any more: what is on its way is refunded', async () => {
    await start('lending')
    await enter(world, 100n * USD)
    const bob = await newDepositor(world)
    await deposit(world, bob, 50n * USD)
    await world.vault.pause(true)
    await stepUntil(world, 'bob is refunded', () => isRefunded(world, bob))
    expect(await balanceOf(bob)).toBe(10_000n * USD)
    expect(await statusOf(world, bob)).toBe('refunded')
    await expectWhole(world)
  })
})

describe('a liquidity-provision vault', () => {
  test('the traders’ wins are the depositors’ losses; withdrawals wait for free liquidity', async () => {
    await start('liquidity')
    const ann = await enter(world, 200n * USD)
    await world.vault.tradersWin(20n * USD)
    await step(world)
    expect((await positionOf(world, ann))?.value).toBeLessThanOrEqual(180n * USD)
    await world.vault.tradersLose(40n * USD)
    await world.vault.openPositions(150n * USD)
    await step(world)
    expect((await withdraw(world, ann, null)).isLiquid).toBe(false)
    await stepUntil(world, 'ann got a part', async () => (await balanceOf(ann)) > 9_800n * USD)
    expect((await withdrawalOf(world, ann))?.status).toBe('queued')
    await world.vault.openPositions(0n)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    expect(await balanceOf(ann)).toBeGreaterThanOrEqual(10_020n * USD - 5n)
    await expectWhole(world)
  })
})

describe('vaults that behave badly', () => {
  test('a vault that charges for a deposit is no market for deposits', async () => {
    await start('fees')
    await world.vault.setFees(50n, 0n)
    await step(world)
    expect(await listMarkets(world.ctx, world.ctx.earnMarkets)).toMatchObject([{ isDepositable: false }])
    const ann = await newDepositor(world)
    await expect(deposit(world, ann, 100n * USD)).rejects.toMatchObject({
      extra: { code: 'not_depositable' },
    })
  })

  test('what a vault begins to charge after the transfer is refunded, and an exit fee is of those who have shares', async () => {
    await start('fees')
    const ann = await enter(world, 100n * USD)
    const bob = await newDepositor(world)
    await deposit(world, bob, 100n * USD)
    await world.vault.setFees(100n, 0n)
    await stepUntil(world, 'bob is refunded', () => isRefunded(world, bob))
    expect(await balanceOf(bob)).toBe(10_000n * USD)
    expect(await failureOf(world, bob)).toMatch(/keep|charge|lose/)
    await world.vault.setFees(0n, 100n)
    await step(world)
    expect((await positionOf(world, ann))?.value).toBeLessThan(100n * USD)
    await expectWhole(world)
  })

  test('a vault whose limits are always 0 works', async () => {
    await start('zeroMax')
    const ann = await enter(world, 100n * USD)
    await withdraw(world, ann, null)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    expect(10_000n * USD - (await balanceOf(ann))).toBeLessThanOrEqual(1n)
    await expectWhole(world)
  })

  test('a vault that pays less than it says: its value is what it pays, and deposits are refused until it is honest', async () => {
    await start('lying')
    const ann = await enter(world, 100n * USD)
    await world.vault.lie(1_000n)
    await step(world)
    expect(await pausedBy()).toBe('price')
    expect(world.pauses).toEqual([pausedEvent('price')])
    expect((await positionOf(world, ann))?.value).toBe(90n * USD)
    const bob = await newDepositor(world)
    await expect(deposit(world, bob, 100n * USD)).rejects.toMatchObject({ extra: { code: 'pool_paused' } })
    await world.vault.lie(0n)
    await step(world)
    expect(await pausedBy()).toBeNull()
    await withdraw(world, ann, null)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    await expectWhole(world)
  })
})
