import { MINUTE } from '@market/kernel/clock'
import { makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, describe, expect, test } from 'vitest'
import { verifyAudit } from '../audit/index.ts'
import { listSwitches, rejectWhileStopped, turnOnByRule, turnSwitch } from './switches.ts'

describe('switches', () => {
  let ctx: MarketContext
  beforeEach(async () => {
    const database = await testDatabase()
    const admin = { kind: 'user', userId: makeProfile().userId, token: '', admin: true } as const
    ctx = marketContext({ db: database.db, actor: admin })
    return database.stop
  })

  const isOn = async () =>
    (await listSwitches(ctx)).filter((one) => one.onSince !== null).map((one) => one.name)

  test('listSwitches: returns every switch as off before any was turned', async () => {
    const off = { onSince: null, changedAt: null, changedBy: null, reason: null }
    expect(await listSwitches(ctx)).toEqual([
      { name: 'read_only', ...off },
      { name: 'freeze_intake', ...off },
      { name: 'freeze_payouts', ...off },
      { name: 'freeze_payouts_solana', ...off },
      { name: 'freeze_payouts_base', ...off },
      { name: 'freeze_payouts_alt', ...off },
      { name: 'freeze_wallets_solana', ...off },
      { name: 'freeze_venues', ...off },
    ])
  })

  test('turnSwitch: waits for every write that saw the switch off', async () => {
    const order: string[] = []
    let turning: Promise<unknown> = Promise.resolve()
    await ctx.transact(async (tx) => {
      await rejectWhileStopped(tx, ['read_only'])
      turning = turnSwitch(ctx, { name: 'read_only', on: true, reason: 'a test' }).then(() =>
        order.push('on'),
      )
      // Many times longer than turning the switch takes without waiting.
      await new Promise((resolve) => setTimeout(resolve, 300))
      order.push('written')
    })
    await turning
    expect(order).toEqual(['written', 'on'])
  })

  test('rejectWhileStopped: rejects with 503 only when a named switch is on', async () => {
    await turnSwitch(ctx, { name: 'freeze_intake', on: true, reason: 'a test' })
    const stopped = ctx.transact((tx) => rejectWhileStopped(tx, ['read_only', 'freeze_intake']))
    await expect(stopped).rejects.toMatchObject({
      kind: 'unavailable',
      extra: { code: 'freeze_intake', retryAfterSeconds: 60 },
    })
    await ctx.transact((tx) => rejectWhileStopped(tx, ['read_only', 'freeze_payouts']))
    await ctx.transact((tx) => rejectWhileStopped(tx, []))
  })

  test('rejectWhileStopped: accepts after the switch was turned off', async () => {
    await turnSwitch(ctx, { name: 'read_only', on: true, reason: 'on' })
    await turnSwitch(ctx, { name: 'read_only', on: false, reason: 'off' })
    await ctx.transact((tx) => rejectWhileStopped(tx, ['read_only']))
    expect(await isOn()).toEqual([])
  })

  test('turnSwitch: turning on twice keeps the first on_since', async () => {
    const first = ctx.clock.now()
    await turnSwitch(ctx, { name: 'read_only', on: true, reason: 'one' })
    ctx.clock.advance(MINUTE)
    const again = await turnSwitch(ctx, { name: 'read_only', on: true, reason: 'two' })
    expect(again).toMatchObject({ onSince: first, changedAt: ctx.clock.now(), reason: 'two' })
    await turnSwitch(ctx, { name: 'read_only', on: false, reason: 'off' })
    const third = await turnSwitch(ctx, { name: 'read_only', on: true, reason: 'three' })
    expect(third.onSince).toEqual(ctx.clock.now())
  })

  test('turnOnByRule: turns a switch on with its reason, in the audit log, and keeps the reason of one that is on', async () => {
    const name = 'freeze_venues'
    await ctx.transact((tx) => turnOnByRule(ctx, tx, { name, reason: 'unknown transactions' }))
    await ctx.transact((tx) => turnOnByRule(ctx, tx, { name, reason: 'others' }))
    expect((await listSwitches(ctx)).find((one) => one.name === name)).toMatchObject({
      onSince: ctx.clock.now(),
      changedBy: 'system',
      reason: 'unknown transactions',
    })
    const rows = await ctx.db.selectFrom('audit_log').select(['actor', 'act']).execute()
    expect(rows).toEqual([{ actor: 'system:switches', act: 'switch.on' }])
  })

  test('turnSwitch: records actor and reason in the audit log', async () => {
    await turnSwitch(ctx, { name: 'freeze_payouts', on: true, reason: 'odd payouts' })
    await turnSwitch(ctx, { name: 'freeze_payouts', on: false, reason: 'explained' })
    const rows = await ctx.db.selectFrom('audit_log').selectAll().orderBy('seq').execute()
    expect(rows).toMatchObject([
      { act: 'switch.on', subject: 'freeze_payouts', details: { reason: 'odd payouts' } },
      { act: 'switch.off', subject: 'freeze_payouts', details: { reason: 'explained' } },
    ])
    expect(rows[0]?.actor).toMatch(/^user:user-/)
    expect(await verifyAudit(ctx)).toBeUndefined()
  })
})
