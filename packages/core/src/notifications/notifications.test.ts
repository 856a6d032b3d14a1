import { DAY } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { testClock } from '@market/testing/clock'
import { makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteOldNotifications } from './delete-old.ts'
import { listNotifications } from './list-notifications.ts'
import { markRead } from './mark-read.ts'
import type { Recipient } from './notification.ts'
import { notify, ownerRecipients } from './notify.ts'
import { deleteNotificationsOf } from './store.ts'

const CONCURRENT = 20

let database: Awaited<ReturnType<typeof testDatabase>>
let ctx: MarketContext
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
})
afterAll(() => database.stop())

const newRecipient = (): Recipient => `user:${makeProfile().userId}`

const send = (recipient: Recipient, title = 'A title') =>
  ctx.transact((tx) => notify(ctx, tx, recipient, { kind: 'test', title, body: 'What happened' }))

const all = (...recipients: Recipient[]) =>
  listNotifications(ctx, recipients, { limit: 100, cursor: undefined })

test('notify: counts each of concurrent notifications', async () => {
  const recipient = newRecipient()
  await Promise.all(Array.from({ length: CONCURRENT }, () => send(recipient)))
  const { notifications, unread } = await all(recipient)
  expect([notifications.length, unread]).toEqual([CONCURRENT, CONCURRENT])
})

test('notify: replaces an unread notification of the same kind about the same subject, and counts one', async () => {
  const recipient = newRecipient()
  const about = (subject: string, title: string, kind = 'test') =>
    ctx.transact((tx) => notify(ctx, tx, recipient, { kind, title, body: 'What happened', about: subject }))
  await Promise.all(Array.from({ length: CONCURRENT }, (_, n) => about('a', `Change ${n}`)))
  await about('a', 'The last change')
  await about('b', 'Another subject')
  await about('a', 'Another kind', 'other')
  await send(recipient, 'About nothing')
  const { notifications, unread } = await all(recipient)
  const titles = notifications.map(({ title }) => title)
  expect(titles.toSorted()).toEqual(['About nothing', 'Another kind', 'Another subject', 'The last change'])
  expect(unread).toBe(4)

  const seen = notifications.find(({ title }) => title === 'The last change')?.id ?? ''
  await about('a', 'After it was seen')
  // What was read before is not what is marked.
  expect(await markRead(ctx, [recipient], [seen])).toEqual({ marked: 0, unread: 4 })
  await markRead(ctx, [recipient], undefined)
  await about('a', 'After it was read')
  expect((await all(recipient)).notifications).toHaveLength(5)
})

test('notify: a rolled-back notification is neither listed nor counted', async () => {
  const recipient = newRecipient()
  const failed = ctx.transact(async (tx) => {
    await notify(ctx, tx, recipient, { kind: 'test', title: 'Never', body: 'Never' })
    throw new Error('rolled back')
  })
  await expect(failed).rejects.toThrow('rolled back')
  expect(await all(recipient)).toMatchObject({ notifications: [], unread: 0 })
})

test('notify and markRead: counters stay right under concurrent calls for shared recipients', async () => {
  const recipients = [newRecipient(), newRecipient(), newRecipient()] as const
  const [a, b, c] = recipients
  for (const recipient of recipients) for (let n = 0; n < 5; n++) await send(recipient)
  const work = Array.from({ length: CONCURRENT }, async (_, n) => {
    const own = [[a, b, c], [c, a], [b], [c, b]][n % 4] ?? []
    await send(recipients[n % 3] ?? a)
    return (await markRead(ctx, own, undefined)).marked
  })
  const marked = (await Promise.all(work)).reduce((sum, count) => sum + count, 0)
  for (const recipient of recipients) {
    const { notifications, unread } = await all(recipient)
    expect(notifications.filter(({ readAt }) => readAt === null)).toHaveLength(unread)
  }
  const { notifications, unread } = await all(...recipients)
  expect(notifications).toHaveLength(15 + CONCURRENT)
  expect(unread).toBe(15 + CONCURRENT - marked)
})

test('markRead: concurrent calls with the same ids decrement the counter once', async () => {
  const recipient = newRecipient()
  for (let n = 0; n < 4; n++) await send(recipient)
  const ids = (await all(recipient)).notifications.slice(0, 2).map(({ id }) => id)
  const done = await Promise.all(Array.from({ length: CONCURRENT }, () => markRead(ctx, [recipient], ids)))
  expect(done.reduce((sum, { marked }) => sum + marked, 0)).toBe(2)
  expect(new Set(done.map(({ unread }) => unread))).toEqual(new Set([2]))
})

test('markRead: keeps the time of the first call', async () => {
  const recipient = newRecipient()
  await send(recipient)
  await markRead(ctx, [recipient], undefined)
  const first = ctx.clock.now()
  ctx.clock.advance(60_000)
  expect(await markRead(ctx, [recipient], undefined)).toEqual({ marked: 0, unread: 0 })
  expect((await all(recipient)).notifications[0]?.readAt).toEqual(first)
})

test('ownerRecipients: the user and the owner wallet', () => {
  expect(ownerRecipients({ ownerUserId: 'u', ownerWallet: '0x1' })).toEqual(['user:u', 'wallet:0x1'])
  expect(ownerRecipients({ ownerUserId: null, ownerWallet: '0x1' })).toEqual(['wallet:0x1'])
  expect(ownerRecipients({ ownerUserId: null, ownerWallet: null })).toEqual([])
})

test('deleteOldNotifications: deletes those of more than 90 days, and their unread count', async () => {
  const recipient = newRecipient()
  const clock = testClock(new Date('2031-01-01T00:00:00Z'))
  const at = { ...ctx, clock, ids: idSource(clock) }
  const sendNow = () =>
    ctx.transact((tx) => notify(at, tx, recipient, { kind: 'test', title: 'Old', body: 'What happened' }))
  await sendNow()
  await markRead(at, [recipient], undefined)
  await sendNow()
  clock.advance(90 * DAY)
  await sendNow()
  // Before the first of them is old, nothing is deleted.
  expect((await all(recipient)).notifications).toHaveLength(3)
  await deleteOldNotifications(at)
  expect((await all(recipient)).notifications).toHaveLength(3)
  clock.advance(1_000)
  await Promise.all([deleteOldNotifications(at), deleteOldNotifications(at), sendNow()])
  const { notifications, unread } = await all(recipient)
  expect([notifications.length, unread]).toEqual([2, 2])
})

test('deleteNotificationsOf: deletes everything of one recipient and nothing of another', async () => {
  const [gone, other] = [newRecipient(), newRecipient()]
  for (const recipient of [gone, gone, other]) await send(recipient)
  await ctx.transact((tx) => deleteNotificationsOf(tx, gone))
  expect(await all(gone)).toMatchObject({ notifications: [], unread: 0 })
  expect((await all(other)).unread).toBe(1)
})
