import { listSwitches, turnSwitch } from '@market/core/switches'
import type { Db } from '@market/database/transact'
import { requestWithdrawal } from '@market/earn/withdrawals'
import { marketContext } from '@market/testing/market-context'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { backUp } from '../support/backup.ts'
import { enter, isPaid, statusOf } from './depositors.ts'
import { deposit, type EarnWorld, newDepositor, startEarnWorld, step, stepUntil, USD } from './earn-world.ts'

let world: EarnWorld
beforeAll(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  await enter(world, 100n * USD)
})
afterAll(() => world.stop())

const worldOf = (db: Db): EarnWorld => ({
  ...world,
  ctx: { ...world.ctx, db },
  payouts: { ...world.payouts, db } as EarnWorld['payouts'],
})

const venueSwitch = async (db: Db) =>
  (await listSwitches({ db })).find(({ name }) => name === 'freeze_venues')

const moveIn = (db: Db, state: string) =>
  db.selectFrom('venue_transfers').selectAll().where('state', '=', state).executeTakeFirst()

const withdrawAll = (depositor: Awaited<ReturnType<typeof enter>>) =>
  requestWithdrawal({ ...world.ctx, actor: depositor.actor }, depositor.actor, {
    key: undefined,
    shares: null,
    destination: undefined,
  })

/** Steps while the venue cannot be asked, so that what is requested is not signed. */
async function stepUnsigned(state: string) {
  world.useVenue({ ...world.realVenue, counts: () => Promise.reject(new Error('away')) })
  for (let round = 0; (await moveIn(world.ctx.db, state)) === undefined && round < 20; round++) {
    await world.network.mine(FINALITY)
    await step(world).catch(() => undefined)
  }
  const move = await moveIn(world.ctx.db, state)
  if (move === undefined) throw new Error(`no move is ${state}`)
  return move
}

test('restore: a withdrawal from the vault that was executed after the backup is recorded, and not executed again', async () => {
  const depositor = await enter(world, 10n * USD)
  await withdrawAll(depositor)
  const move = await stepUnsigned('withdrawing')
  const restore = await backUp(world.database.url)
  world.useVenue(world.realVenue)
  await stepUntil(world, 'the depositor is paid', () => isPaid(world, depositor))
  const shares = await world.vault.sharesOf(world.wallet)

  const { db, stop } = await restore()
  try {
    const restored = worldOf(db)
    const found = async () =>
      (await db.selectFrom('venue_transfers').selectAll().where('id', '=', move.id).executeTakeFirstOrThrow())
        .reference
    await stepUntil(restored, 'the withdrawal is recorded', async () => (await found()) !== null)
    const known = await world.ctx.db
      .selectFrom('venue_transfers')
      .select('reference')
      .where('id', '=', move.id)
      .executeTakeFirstOrThrow()
    expect(await found()).toBe(known.reference)
    expect(await world.vault.sharesOf(world.wallet)).toBe(shares)
    expect((await venueSwitch(db))?.onSince ?? null).toBeNull()
  } finally {
    await stop()
  }
})

test('a wallet that sent what the database does not know stops all venues until an operator has compared', async () => {
  const { network, ctx } = world
  await network.rpc('anvil_impersonateAccount', [world.wallet])
  await network.rpc('eth_sendTransaction', [{ from: world.wallet, to: world.wallet }])
  await network.rpc('anvil_stopImpersonatingAccount', [world.wallet])
  const sentCount = () => network.rpc('eth_getTransactionCount', [world.wallet, 'pending'])
  const sent = await sentCount()
  const depositor = await newDepositor(world)
  await deposit(world, depositor, 5n * USD)
  await stepUntil(
    world,
    'venues are stopped',
    async () => (await venueSwitch(ctx.db))?.onSince instanceof Date,
  )
  expect(await venueSwitch(ctx.db)).toMatchObject({
    changedBy: 'system',
    reason: `The wallet ${world.wallet.toLowerCase()} on base-mainnet sent what the database does not know: nonce ${Number(sent) - 1}`,
  })
  for (let round = 0; round < 5; round++) {
    await network.mine(FINALITY)
    await step(world)
  }
  expect(await sentCount()).toBe(sent)

  const operator = marketContext({ db: ctx.db })
  await turnSwitch(operator, { name: 'freeze_venues', on: false, reason: 'compared with the chain' })
  const isActive = async () => (await statusOf(world, depositor)) === 'active'
  await stepUntil(world, 'the deposit has shares', isActive)
})
