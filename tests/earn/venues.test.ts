import { findPools } from '@market/earn/pools'
import { listMarkets, requestWithdrawal, settleWithdrawals } from '@market/earn/withdrawals'
import { usdc } from '@market/kernel/money'
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
const pausedEvent = (reason: string) => ({
  event: 'earn.paused',
  pool: world.market.key,
  reason,
  missing_micros: expect.stringMatching(reason === 'impaired' ? /^[1-9]\d*$/ : /^0$/),
})
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

  test('a pool that owes more than its venue has stands still, tells operators, and goes on when the money is back', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    await world.vault.borrow(90n * USD)
    await withdraw(world, ann, null)
    await world.vault.badDebt(50n * USD)
    await stepUntil(world, 'the pool is paused', async () => (await pausedBy()) === 'impaired')
    expect(world.pauses).toEqual([pausedEvent('impaired')])
    const bob = await newDepositor(world)
    await expect(deposit(world, bob, 100n * USD)).rejects.toMatchObject({
      extra: { code: 'pool_paused' },
    })
    await world.vault.donate(60n * USD)
    await world.vault.repay(40n * USD, 0n)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    expect(await balanceOf(ann)).toBe(10_000n * USD)
    await expectWhole(world)
  })

  test('a loss that a withdrawal meets before the next reading is reported too, and nothing is burned', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    const bob = await enter(world, 20n * USD)
    await world.vault.borrow(110n * USD)
    await withdraw(world, ann, null)
    await world.vault.badDebt(60n * USD)
    const { actor } = bob
    const wanted = { key: undefined, shares: null, destination: undefined }
    await requestWithdrawal({ ...world.ctx, actor }, actor, wanted)
    await settleWithdrawals({ ...world.ctx, venues: world.venues })
    await step(world)
    expect(world.pauses).toEqual([pausedEvent('impaired')])
    expect(await withdrawalOf(world, bob)).toMatchObject({ status: 'rejected', failure: 'pool_paused' })
    expect((await positionOf(world, bob))?.shares).toBeGreaterThan(0n)
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

  test('a deposit on its way into a pool that lacks money waits, and does not pay what others are owed', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    await world.vault.borrow(90n * USD)
    const bob = await newDepositor(world)
    const before = await world.vault.sharesOf(world.wallet)
    await deposit(world, bob, 100n * USD)
    const isMined = async () => (await world.vault.sharesOf(world.wallet)) > before
    await stepUntil(world, 'the vault has it', isMined)
    await withdraw(world, ann, null)
    await world.vault.badDebt(90n * USD)
    await stepUntil(world, 'the pool is paused', async () => (await pausedBy()) === 'impaired')
    for (let round = 0; round < 6; round++) {
      await world.network.mine(9)
      await step(world)
    }
    expect(await statusOf(world, bob)).toBe('deploying')
    await world.vault.donate(90n * USD)
    await stepUntil(world, 'bob has shares', async () => (await statusOf(world, bob)) === 'active')
    expect((await positionOf(world, bob))?.value).toBeGreaterThanOrEqual(100n * USD - 2n)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    await expectWhole(world)
  })

  test('a deposit gets no shares at the price of a vault that was configured in place of its own', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    const bob = await newDepositor(world)
    await deposit(world, bob, 100n * USD)
    const { realVenue, market } = world
    const otherVault = { ...market, vault: `0x${'b'.repeat(40)}` }
    const valuesOf = async (shares: readonly bigint[]) => shares.map(() => usdc(1n))
    world.useVenue({ ...realVenue, valuesOf: () => Promise.reject(new Error('not now')) })
    const isDone = async () =>
      (await world.database.db.selectFrom('venue_transfers').select('state').execute()).every(
        ({ state }) => state === 'done',
      )
    for (let round = 0; round < 20 && !((await isDone()) && round > 2); round++) {
      await world.network.mine(9)
      await step(world).catch(() => undefined)
    }
    world.useVenue({ ...realVenue, market: otherVault, valuesOf })
    for (let round = 0; round < 3; round++) await step(world)
    expect(await pausedBy()).toBe('wallet')
    expect(await statusOf(world, bob)).toBe('deploying')
    expect((await positionOf(world, ann))?.value).toBe(100n * USD)
    world.useVenue(realVenue)
    await stepUntil(world, 'bob has shares', async () => (await statusOf(world, bob)) === 'active')
    await expectWhole(world)
  })

  test('a withdrawal that after a loss takes given shares too does not stop the wallet', async () => {
    await start('lending')
    const ann = await enter(world, 100n * USD)
    await world.vault.giveShares(world.wallet, 50n * USD)
    await world.vault.borrow(10n * USD)
    await withdraw(world, ann, null)
    await world.vault.badDebt(10n * USD)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    await expectWhole(world)
    await enter(world, 100n * USD)
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
    const { wasLiquid } = await withdraw(world, ann, null)
    expect(wasLiquid).toBe(false)
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

  test('a vault that pays less than it says pauses its pool, and no share is paid out at that price', async () => {
    await start('lying')
    const ann = await enter(world, 100n * USD)
    await world.vault.lie(1_000n)
    await step(world)
    expect(await pausedBy()).toBe('price')
    expect(world.pauses).toEqual([pausedEvent('price')])
    await expect(withdraw(world, ann, null)).rejects.toMatchObject({ extra: { code: 'pool_paused' } })
    await world.vault.lie(0n)
    await step(world)
    expect(await pausedBy()).toBeNull()
    await withdraw(world, ann, null)
    await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
    await expectWhole(world)
  })
})
