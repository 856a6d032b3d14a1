import { acceptVenueTransfer, advanceVenueTransfers } from '@market/earn/venue-transfers'
import { formatUsd, usdc } from '@market/kernel/money'
import { refundTransfer } from '@market/money/payouts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { enter, failureOf, isPaid, positionOf, statusOf } from './depositors.ts'
import {
  deposit,
  type EarnWorld,
  NETWORK,
  newDepositor,
  startEarnWorld,
  step,
  stepUntil,
  USD,
  withdraw,
} from './earn-world.ts'

let world: EarnWorld
beforeEach(async () => {
  world = await startEarnWorld('lending')
  await step(world)
})
afterEach(() => world.stop())

const held = async () =>
  world.database.db.selectFrom('venue_transfers').selectAll().where('state', '=', 'held').executeTakeFirst()

/** Rounds in which the sweep may fail, because a transfer is held. */
async function stepUntilHeld(): Promise<unknown[]> {
  const errors: unknown[] = []
  for (let round = 0; round < 40 && (await held()) === undefined; round++) {
    await world.network.mine(9)
    await step(world).catch((error: unknown) => errors.push(error))
  }
  return errors
}

const OPERATORS = ['user:first', 'user:second'] as const

/** Two operators accept what a held transfer really moved. */
async function accept(vaultShares: bigint, assets: bigint): Promise<void> {
  const { ctx } = world
  const id = (await held())?.id ?? ''
  const payload = { id, vaultShares, assets: usdc(assets) }
  const { subject, summary } = await ctx.transact((tx) => acceptVenueTransfer.check(ctx, tx, payload))
  await insertAccepted(subject, summary, vaultShares, assets)
}

/** The row of an approval that two operators gave. */
async function insertAccepted(subject: string, summary: string, vaultShares: bigint, assets: bigint) {
  const { ctx } = world
  const at = ctx.clock.now()
  await ctx.db
    .insertInto('approvals')
    .values({
      ...{ id: ctx.ids.next('apr'), kind: 'accept_venue_transfer', subject, summary, reason: 'by the chain' },
      payload: JSON.stringify({ vault_shares: String(vaultShares), amount_usd: formatUsd(usdc(assets)) }),
      ...{ proposer: OPERATORS[0], approver: OPERATORS[1], state: 'approved' },
      ...{ created_at: at, decided_at: at, expires_at: new Date(at.getTime() + 60_000) },
    })
    .execute()
}

test('a deposit whose receipt is not understood is held, the wallet is free for others, and two operators accept its shares', async () => {
  const ann = await enter(world, 100n * USD)
  const bob = await newDepositor(world)
  await deposit(world, bob, 50n * USD)
  world.useVenue({
    ...world.realVenue,
    receiptOf: () => Promise.reject(new Error('the receipt has two deposits')),
  })
  const errors = await stepUntilHeld()
  await step(world)
  expect(await statusOf(world, bob)).toBe('held')
  expect(await failureOf(world, bob)).toContain('two deposits')
  // Once: the sweep fails, so that operators see it, and then the transfer is left alone.
  expect(errors).toHaveLength(1)

  world.useVenue(world.realVenue)
  await withdraw(world, ann, null)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  expect(10_000n * USD - (await world.network.balanceOf(ann.address))).toBeLessThanOrEqual(1n)
  await accept(await world.vault.sharesOf(world.wallet), 50n * USD)
  await stepUntil(world, 'bob has shares', async () => (await statusOf(world, bob)) === 'active')
  expect((await positionOf(world, bob))?.value).toBeGreaterThanOrEqual(50n * USD - 1n)
  await expectWhole(world)
})

test('a recall whose receipt is not understood recalls nothing more, and two operators accept what really moved', async () => {
  const [ann, bob] = [await enter(world, 100n * USD), await enter(world, 100n * USD)]
  await withdraw(world, ann, null)
  world.useVenue({ ...world.realVenue, receiptOf: () => Promise.reject(new Error('what is this')) })
  await stepUntilHeld()
  world.useVenue(world.realVenue)
  const move = await held()
  const left = await world.vault.sharesOf(world.wallet)
  // Shares are taken at once all the same, and wait.
  expect(await withdraw(world, bob, null)).toMatchObject({ status: 'queued', waitsFor: 'venue_check' })
  await expect(deposit(world, await newDepositor(world), 100n * USD)).rejects.toMatchObject({
    extra: { code: 'pool_paused' },
  })
  for (let round = 0; round < 10; round++) {
    await world.network.mine(9)
    await step(world)
  }
  expect(await world.vault.sharesOf(world.wallet)).toBe(left)
  expect(await held()).toMatchObject({ id: move?.id })

  // What it brought belongs to the pool: nobody gets it as an unmatched transfer, and operators cannot say another amount.
  const unmatched = {
    network: NETWORK,
    reference: move?.reference ?? '',
    index: 0,
    from: 'suspense',
  } as const
  await expect(world.ctx.transact((tx) => refundTransfer(world.ctx, tx, unmatched))).rejects.toMatchObject({
    extra: { code: 'approval_required' },
  })
  const shares = BigInt(move?.asked_shares ?? 0n)
  await expect(accept(shares, 99n * USD)).rejects.toMatchObject({ kind: 'conflict' })
  await accept(shares, 100n * USD)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  await stepUntil(world, 'bob is paid', () => isPaid(world, bob))
  for (const one of [ann, bob])
    expect(10_000n * USD - (await world.network.balanceOf(one.address))).toBeLessThanOrEqual(2n)
  await expectWhole(world)
})

/** The errors of the sweep in some rounds. */
async function errorsOf(rounds: number): Promise<string[]> {
  const errors: string[] = []
  for (let round = 0; round < rounds; round++) {
    await world.network.mine(9)
    world.clock.advance(1_000)
    await step(world).catch((error: AggregateError) => errors.push(...error.errors.map(String)))
  }
  return errors
}

test('a deploy: a number of shares that the wallet does not have changes nothing for others, and the next one counts', async () => {
  const ann = await enter(world, 1_000n * USD)
  const thief = await newDepositor(world)
  await deposit(world, thief, 50n * USD)
  world.useVenue({ ...world.realVenue, receiptOf: () => Promise.reject(new Error('what is this')) })
  await stepUntilHeld()
  world.useVenue(world.realVenue)
  const shares = await world.vault.sharesOf(world.wallet)
  const id = (await held())?.id ?? ''
  // Not by the checks of a proposal: what the api's role can write.
  await insertAccepted(id, 'forged', shares - 1n, 50n * USD)
  expect(await errorsOf(3)).toContainEqual(expect.stringContaining('that are not counted yet'))
  await accept(10n * shares, 50n * USD)
  expect(await errorsOf(3)).toContainEqual(expect.stringContaining('stays held'))
  expect((await positionOf(world, ann))?.value).toBeGreaterThanOrEqual(1_000n * USD - 1n)
  const brought = await world.realVenue.movedBy((await held())?.reference ?? '')
  await accept(brought.shares, 50n * USD)
  await stepUntil(world, 'the deposit has shares', async () => (await statusOf(world, thief)) === 'active')
  await withdraw(world, ann, null)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  expect(10_000n * USD - (await world.network.balanceOf(ann.address))).toBeLessThanOrEqual(2n)
  await expectWhole(world)
})

test('a recall: fewer burned shares than left the wallet are not accepted, so that nobody is paid twice', async () => {
  const [ann, bob] = [await enter(world, 100n * USD), await enter(world, 100n * USD)]
  await withdraw(world, ann, null)
  world.useVenue({ ...world.realVenue, receiptOf: () => Promise.reject(new Error('what is this')) })
  await stepUntilHeld()
  world.useVenue(world.realVenue)
  const asked = BigInt((await held())?.asked_shares ?? 0n)
  await accept(1n, 100n * USD)
  expect(await errorsOf(3)).toContainEqual(expect.stringContaining('left the wallet'))
  await accept(asked, 100n * USD)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  expect(await world.network.balanceOf(ann.address)).toBeLessThanOrEqual(10_000n * USD)
  expect((await positionOf(world, bob))?.value).toBeGreaterThanOrEqual(100n * USD - 1n)
  await expectWhole(world)
})

test('a recall: nothing is accepted before the treasury was read, and 0.00 never when it paid', async () => {
  const ann = await enter(world, 100n * USD)
  await withdraw(world, ann, null)
  world.useVenue({ ...world.realVenue, receiptOf: () => Promise.reject(new Error('what is this')) })
  // The reader of the treasury is behind; the rest goes on.
  for (let round = 0; round < 40 && (await held()) === undefined; round++) {
    await world.network.mine(9)
    world.clock.advance(1_000)
    const earn = { ...world.ctx, venues: world.venues, caps: world.payouts.caps }
    await advanceVenueTransfers(earn).catch(() => undefined)
  }
  world.useVenue(world.realVenue)
  const asked = BigInt((await held())?.asked_shares ?? 0n)
  for (const assets of [0n, 100n * USD])
    await expect(accept(asked, assets)).rejects.toThrow('were not read to the end yet')
  await insertAccepted((await held())?.id ?? '', 'forged', asked, 0n)
  expect(await errorsOf(3)).toContainEqual(expect.stringContaining('paid 100000000 micro-USDC'))
  await accept(asked, 100n * USD)
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
  await expectWhole(world)
})
