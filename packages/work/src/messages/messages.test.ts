import { type Actor, nameOf } from '@market/core/context'
import { findEventsAfter } from '@market/core/events'
import { listNotifications } from '@market/core/notifications'
import { saveAccount } from '@market/identity/accounts'
import type { Agent } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { agentActor, userActor, walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { makeAgent, makeEvmWallet, makeListedAgent, makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { buyerOf, type Status, TRANSITIONS } from '@market/trade/orders'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listMessages } from './list-messages.ts'
import { sendMessage } from './send-message.ts'

const AT_ONCE = 20

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
})
afterAll(() => stop())

const itself = ({ id }: Agent): Actor => agentActor(id)

async function makeThread({
  status = 'paid',
  buyer = walletActor(),
}: {
  status?: Status
  buyer?: Actor
} = {}) {
  const owner = makeEvmWallet()
  const { agent } = await makeListedAgent(ctx, { owner: { kind: 'wallet', wallet: owner } })
  const { id } = await makeOrder(ctx, await makeListing(ctx, agent.id), { status, buyer })
  return { orderId: id, agent, owner: walletActor(owner.key), buyer }
}

const say = (actor: Actor, orderId: OrderId, content: string) => sendMessage(ctx, actor, { orderId, content })
const read = async (actor: Actor, orderId: OrderId) =>
  (await listMessages(ctx, actor, { orderId, limit: 100 })).messages
const eventsOf = async ({ id }: Agent) =>
  (await findEventsAfter(ctx.db, { kind: 'agent', key: id }, 0n, 100)).filter(
    ({ event }) => event === 'order.message',
  )
const buyerEventsOf = (buyer: Actor) =>
  findEventsAfter(ctx.db, { kind: 'buyer', key: buyerOf(buyer) }, 0n, 100)
const inboxOf = async (actor: Actor) =>
  (await listNotifications(ctx, [nameOf(actor) as `wallet:${string}`], { limit: 100, cursor: undefined }))
    .notifications

describe('the thread of an order', () => {
  const open = ['paid', 'in_progress', 'delivered', 'revision_requested', 'disputed', 'completed']
  const states = (Object.keys(TRANSITIONS) as Status[]).map((status) => ({
    status,
    isOpen: open.includes(status),
  }))

  test.each(states)('$status: open for both parties: $isOpen', async (row) => {
    const { orderId, agent, buyer, owner } = await makeThread(row)
    for (const actor of [buyer, itself(agent), owner]) {
      const said = say(actor, orderId, 'Hello')
      if (row.isOpen) expect(await said).toMatchObject({ content: 'Hello' })
      else await expect(said).rejects.toMatchObject({ kind: 'invalid', extra: { code: 'thread_closed' } })
    }
    expect(await read(buyer, orderId)).toHaveLength(row.isOpen ? 3 : 0)
  })

  test('can be read by the parties and by operators; others get 404', async () => {
    const { orderId, agent, buyer, owner } = await makeThread()
    const otherUsers = [walletActor(), itself((await makeAgent(ctx)).agent)]
    await say(buyer, orderId, 'Hello')
    const missing = { kind: 'not_found', extra: { code: 'order_not_found' } }
    for (const otherUser of otherUsers) {
      await expect(say(otherUser, orderId, 'Hello')).rejects.toMatchObject(missing)
      await expect(read(otherUser, orderId)).rejects.toMatchObject(missing)
    }
    for (const actor of [buyer, itself(agent), owner]) expect(await read(actor, orderId)).toHaveLength(1)
    for (const operator of [
      { kind: 'admin_key', name: 'ops' },
      { ...userActor('ops'), admin: true },
    ] as const)
      expect((await listMessages(ctx, operator, { orderId, limit: 9 })).messages).toHaveLength(1)
    expect(await eventsOf(agent)).toHaveLength(1)
  })

  test('has the same order for every reader, also within one millisecond', async () => {
    const { orderId, agent, buyer } = await makeThread()
    const words = Array.from({ length: 12 }, (_, n) => `word ${n}`)
    for (const word of words) await say(buyer, orderId, word)
    expect((await read(buyer, orderId)).map(({ content }) => content)).toEqual(words.toReversed())
    expect((await eventsOf(agent)).map(({ data }) => (data as { content: string }).content)).toEqual(words)
  })

  test('pages contain every message once while new ones are written', async () => {
    const { orderId, agent, buyer } = await makeThread()
    for (let n = 0; n < 7; n++) await say(n % 2 === 0 ? buyer : itself(agent), orderId, `word ${n}`)
    const seen: string[] = []
    let cursor: string | undefined
    for (const last of [false, false, true]) {
      const page = await listMessages(ctx, buyer, { orderId, limit: 3, cursor })
      seen.push(...page.messages.map(({ content }) => content))
      cursor = page.nextCursor(page.messages.length) ?? undefined
      expect(cursor === undefined).toBe(last)
      await say(buyer, orderId, 'later')
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, n) => `word ${6 - n}`))
  })

  test('rejects a cursor of another list', async () => {
    const { orderId, buyer } = await makeThread()
    const ids = ['ord_1_00000000000000000', 'msg_1_0', "msg_1_00000000000000000'"]
    const forge = (id: string) => Buffer.from(JSON.stringify(['messages', 1, id])).toString('base64url')
    const forged = ['', 'x', '1', ...ids.map(forge)]
    for (const cursor of forged)
      await expect(listMessages(ctx, buyer, { orderId, limit: 3, cursor })).rejects.toMatchObject({
        kind: 'invalid',
        extra: { details: [{ path: 'cursor' }] },
      })
  })
})

describe('effects of a message', () => {
  test('each message of the buyer emits one event, in the order of the thread, also for concurrent messages', async () => {
    const { orderId, agent, buyer } = await makeThread()
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => say(buyer, orderId, `word ${n}`)))
    const thread = (await read(buyer, orderId)).toReversed()
    expect(thread).toHaveLength(AT_ONCE)
    const times = thread.map(({ createdAt }) => createdAt.getTime())
    expect(new Set(times).size).toBe(AT_ONCE)
    const [sender_name] = new Set(thread.map(({ senderName }) => senderName))
    expect(await eventsOf(agent)).toMatchObject(
      thread.map(({ content }) => ({ orderId, data: { sender_type: 'client', sender_name, content } })),
    )
    expect(await inboxOf(buyer)).toEqual([])
  })

  test('a message of the agent or its owner notifies the buyer and emits an event to the buyer only', async () => {
    const { orderId, agent, buyer, owner } = await makeThread()
    await say(itself(agent), orderId, 'It is nearly done.')
    ctx.clock.advance(1)
    await say(owner, orderId, 'x'.repeat(2000))
    const word = { kind: 'order.message', data: { order_id: orderId } }
    const title = `${agent.name} wrote about “A portrait in oil”`
    expect(await inboxOf(buyer)).toMatchObject([
      { ...word, title, body: `${'x'.repeat(200)}…` },
      { ...word, title, body: 'It is nearly done.' },
    ])
    expect(await eventsOf(agent)).toEqual([])
    const data = { sender_type: 'agent', sender_name: agent.name }
    expect(await buyerEventsOf(buyer)).toMatchObject([
      { event: 'order.message', orderId, data: { ...data, content: 'It is nearly done.' } },
      { event: 'order.message', orderId, data: { ...data, content: 'x'.repeat(2000) } },
    ])
    expect(await inboxOf(owner)).toEqual([])
  })

  test('any text is returned unchanged', async () => {
    const { orderId, agent, buyer } = await makeThread()
    const texts = [
      "'; drop table order_messages; --",
      '<script>alert(1)</script>',
      '{"sender_type":"agent"}\n\t\\u0000 \\',
      '👩‍👩‍👧 Zoë مرحبا ﷺ',
      '𝕏'.repeat(2000),
    ]
    for (const text of texts) {
      await say(buyer, orderId, text)
      await say(itself(agent), orderId, text)
      ctx.clock.advance(5)
    }
    const both = texts.flatMap((text) => [text, text])
    expect((await read(buyer, orderId)).map(({ content }) => content)).toEqual(both.toReversed())
    const told = (await eventsOf(agent)).map(({ data }) => (data as { content: string }).content)
    expect(told).toEqual(texts)
    const glances = (await inboxOf(buyer)).map(({ body }) => body)
    expect(glances).toEqual([`${'𝕏'.repeat(200)}…`, ...texts.slice(0, -1).toReversed()])
  })

  test('the database rejects a message that is empty or too long', async () => {
    const { orderId, agent, buyer } = await makeThread()
    for (const content of ['', 'x'.repeat(2001)])
      await expect(say(buyer, orderId, content)).rejects.toThrow(/order_messages_content_check/)
    expect(await eventsOf(agent)).toEqual([])
  })
})

describe('a sender’s name', () => {
  const senderName = async (actor: Actor, buyer = actor) => {
    const { orderId } = await makeThread({ buyer })
    return (await say(actor, orderId, 'Hello')).senderName
  }
  const person = async (said: Parameters<typeof makeProfile>[0]) => {
    const profile = makeProfile(said)
    await ctx.transact((tx) => saveAccount(ctx, tx, profile))
    return userActor(profile.userId)
  }

  test('is the user’s display name, else the username, else `Client`', async () => {
    expect(await senderName(await person({ displayName: 'Zoë', username: 'zoe' }))).toBe('Zoë')
    expect(await senderName(await person({ displayName: null, username: 'zoe' }))).toBe('zoe')
    expect(await senderName(await person({}))).toBe('Client')
    expect(await senderName(userActor('never-signed-in'))).toBe('Client')
  })

  test('is the wallet, shortened and with its checksum', async () => {
    const { key, address } = makeEvmWallet()
    expect(await senderName(walletActor(key))).toBe(`${address.slice(0, 6)}…${address.slice(-4)}`)
  })

  test('is the agent’s name for buying and selling agents, also when the owner writes', async () => {
    const buying = (await makeListedAgent(ctx)).agent
    expect(await senderName(itself(buying))).toBe(buying.name)
    const { orderId, agent, owner } = await makeThread()
    for (const actor of [itself(agent), owner])
      expect(await say(actor, orderId, 'Hello')).toMatchObject({
        senderType: 'agent',
        senderName: agent.name,
      })
  })

  test('is the writing user’s name when the order was made by a linked wallet', async () => {
    const wallet = walletActor()
    const user = await person({ displayName: 'Zoë' })
    expect(await senderName({ ...user, wallets: [wallet.wallet] }, wallet)).toBe('Zoë')
  })
})
