import { makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listNotifications } from './list-notifications.ts'
import { markRead } from './mark-read.ts'
import type { Recipient } from './notification.ts'
import { notify, ownerRecipient } from './notify.ts'

const AT_ONCE = 20

let database: Awaited<ReturnType<typeof testDatabase>>
let ctx: MarketContext
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
})
afterAll(() => database.stop())

const somebody = (): Recipient => `user:${makeProfile().userId}`

const tell = (recipient: Recipient, title = 'A word') =>
  ctx.transact((tx) => notify(ctx, tx, recipient, { kind: 'test', title, body: 'What happened' }))

const all = (...recipients: Recipient[]) =>
  listNotifications(ctx, recipients, { limit: 100, cursor: undefined })

test('told by many at once, each is counted', async () => {
  const who = somebody()
  await Promise.all(Array.from({ length: AT_ONCE }, () => tell(who)))
  const { notifications, unread } = await all(who)
  expect([notifications.length, unread]).toEqual([AT_ONCE, AT_ONCE])
})

test('a word whose reason was taken back is not there and not counted', async () => {
  const who = somebody()
  const failed = ctx.transact(async (tx) => {
    await notify(ctx, tx, who, { kind: 'test', title: 'Never', body: 'Never' })
    throw new Error('taken back')
  })
  await expect(failed).rejects.toThrow('taken back')
  expect(await all(who)).toEqual({ notifications: [], unread: 0, nextCursor: null })
})

test('told and marked by many at once, over recipients they share, the counts are right and nobody fails', async () => {
  const recipients = [somebody(), somebody(), somebody()] as const
  const [a, b, c] = recipients
  for (const who of recipients) for (let n = 0; n < 5; n++) await tell(who)
  const work = Array.from({ length: AT_ONCE }, async (_, n) => {
    const own = [[a, b, c], [c, a], [b], [c, b]][n % 4] ?? []
    await tell(recipients[n % 3] ?? a)
    return (await markRead(ctx, own, undefined)).marked
  })
  const marked = (await Promise.all(work)).reduce((sum, count) => sum + count, 0)
  for (const who of recipients) {
    const { notifications, unread } = await all(who)
    expect(notifications.filter(({ readAt }) => readAt === null)).toHaveLength(unread)
  }
  const { notifications, unread } = await all(...recipients)
  expect(notifications).toHaveLength(15 + AT_ONCE)
  expect(unread).toBe(15 + AT_ONCE - marked)
})

test('marked by id by many at once, each is counted down once', async () => {
  const who = somebody()
  for (let n = 0; n < 4; n++) await tell(who)
  const ids = (await all(who)).notifications.slice(0, 2).map(({ id }) => id)
  const done = await Promise.all(Array.from({ length: AT_ONCE }, () => markRead(ctx, [who], ids)))
  expect(done.reduce((sum, { marked }) => sum + marked, 0)).toBe(2)
  expect(new Set(done.map(({ unread }) => unread))).toEqual(new Set([2]))
})

test('what is read keeps the time it was first marked', async () => {
  const who = somebody()
  await tell(who)
  await markRead(ctx, [who], undefined)
  const first = ctx.clock.now()
  ctx.clock.advance(60_000)
  expect(await markRead(ctx, [who], undefined)).toEqual({ marked: 0, unread: 0 })
  expect((await all(who)).notifications[0]?.readAt).toEqual(first)
})

test('the person answers for an agent, else its wallet, else nobody', () => {
  expect(ownerRecipient({ ownerUserId: 'u', ownerWallet: '0x1' })).toBe('user:u')
  expect(ownerRecipient({ ownerUserId: null, ownerWallet: '0x1' })).toBe('wallet:0x1')
  expect(ownerRecipient({ ownerUserId: null, ownerWallet: null })).toBeUndefined()
})
