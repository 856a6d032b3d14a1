import { listSwitches, turnSwitch } from '@market/core/switches'
import { requestWithdrawal } from '@market/earn/withdrawals'
import { marketContext } from '@market/testing/market-context'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { backUp } from '../support/backup.ts'
import { enter, isPaid } from './depositors.ts'
import { type EarnWorld, startEarnWorld, step, stepUntil, USD } from './earn-world.ts'

let world: EarnWorld
let restoreFirst: Awaited<ReturnType<typeof backUp>>
beforeAll(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  restoreFirst = await backUp(world.database.url)
  await enter(world, 100n * USD)
})
afterAll(() => world.stop())

const unsigned = (state: string) =>
  world.ctx.db
    .selectFrom('venue_transfers')
    .selectAll()
    .where('state', '=', state)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('venue_signatures').selectAll().whereRef('venue_transfer_id', '=', 'venue_transfers.id'),
        ),
      ),
    )
    .executeTakeFirst()

test('restore: venues are held after a restore to a moment before the first venue transfer', async () => {
  const { db, stop } = await restoreFirst()
  try {
    const held = (await listSwitches({ db })).find(({ name }) => name === 'freeze_venues')
    expect(held).toMatchObject({ onSince: expect.any(Date), changedBy: 'system' })
  } finally {
    await stop()
  }
})

test('restore: a withdrawal from the vault that was executed after the backup is not executed again', async () => {
  const depositor = await enter(world, 10n * USD)
  const { actor } = depositor
  await requestWithdrawal({ ...world.ctx, actor }, actor, {
    key: undefined,
    shares: null,
    destination: undefined,
  })
  // The venue is away while the backup is made, so that the recall is requested and not signed.
  world.useVenue({ ...world.realVenue, nextNonce: () => Promise.reject(new Error('away')) })
  for (let round = 0; (await unsigned('withdrawing')) === undefined && round < 20; round++) {
    await world.network.mine(FINALITY)
    await step(world).catch(() => undefined)
  }
  const move = await unsigned('withdrawing')
  expect(move).toBeDefined()
  const restore = await backUp(world.database.url)
  world.useVenue(world.realVenue)
  await stepUntil(world, 'the depositor is paid', () => isPaid(world, depositor))
  const shares = await world.vault.sharesOf(world.wallet)

  const { db, stop } = await restore()
  try {
    const restored: EarnWorld = {
      ...world,
      ctx: { ...world.ctx, db },
      payouts: { ...world.payouts, db } as EarnWorld['payouts'],
    }
    const stateOf = async () =>
      (
        await db
          .selectFrom('venue_transfers')
          .select('state')
          .where('id', '=', move?.id ?? '')
          .executeTakeFirstOrThrow()
      ).state
    for (let round = 0; round < 10; round++) {
      await world.network.mine(FINALITY)
      await step(restored)
    }
    expect(await stateOf()).toBe('withdrawing')
    expect(await world.vault.sharesOf(world.wallet)).toBe(shares)

    await turnSwitch(marketContext({ db }), {
      name: 'freeze_venues',
      on: false,
      reason: 'compared with the chain',
    })
    await stepUntil(restored, 'the operator released it', async () => (await stateOf()) !== 'withdrawing')
  } finally {
    await stop()
  }
})
