import { findEventsAfter } from '@market/core/events'
import { listNotifications } from '@market/core/notifications'
import { saveAccount } from '@market/identity/accounts'
import type { Agent } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder, makeParty } from '@market/testing/make-order'
import { makeAgent, makeEvmWallet, makeListedAgent, makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Party, type Status, TRANSITIONS } from '../orders/index.ts'
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

const itself = ({ id }: Agent): Party => ({ name: `agent:${id}`, agentId: id, wallets: [] })

async function makeThread({ status = 'paid', party = makeParty() }: { status?: Status; party?: Party } = {}) {
  const owner = makeEvmWallet()
  const { agent } = await makeListedAgent(ctx, { owner: { kind: 'wallet', wallet: owner } })
  const { id } = await makeOrder(ctx, await makeListing(ctx, agent.id), { status, party })
  return { orderId: id, agent, owner: makeParty(owner.key), buyer: party }
}

const say = (party: Party, orderId: OrderId, content: string) => sendMessage(ctx, party, { orderId, content })
const read = async (party: Party, orderId: OrderId) =>
  (await listMessages(ctx, party, { orderId, limit: 100 })).messages
const eventsOf = async ({ id }: Agent) =>
  (await findEventsAfter(ctx.db, id, 0n, 100)).filter(({ event }) => event === 'order.message')
const inboxOf = async (party: Party) =>
  (await listNotifications(ctx, [party.name as `wallet:${string}`], { limit: 100, cursor: undefined }))
    .notifications

describe('the thread of an order', () => {
  const open = ['paid', 'in_progress', 'delivered', 'revision_requested', 'disputed', 'completed']
  const states = (Object.keys(TRANSITIONS) as Status[]).map((status) => ({
    status,
    isOpen: open.includes(status),
  }))

  test.each(states)('$status: open to both sides, or to none, as the table says ($isOpen)', async (row) => {
    const { orderId, agent, buyer, owner } = await makeThread(row)
    for (const party of [buyer, itself(agent), owner]) {
      const said = say(party, orderId, 'Hello')
      if (row.isOpen) expect(await said).toMatchObject({ content: 'Hello' })
      else await expect(said).rejects.toMatchObject({ kind: 'invalid', extra: { code: 'thread_closed' } })
    }
    expect(await read(buyer, orderId)).toHaveLength(row.isOpen ? 3 : 0)
  })

  test('is there for the parties and for operators, and for nobody else', async () => {
    const { orderId, agent, buyer, owner } = await makeThread()
    const otherUsers = [makeParty(), itself((await makeAgent(ctx)).agent)]
    await say(buyer, orderId, 'Hello')
    const missing = { kind: 'not_found', extra: { code: 'order_not_found' } }
    for (const otherUser of otherUsers) {
      await expect(say(otherUser, orderId, 'Hello')).rejects.toMatchObject(missing)
      await expect(read(otherUser, orderId)).rejects.toMatchObject(missing)
    }
    for (const party of [buyer, itself(agent), owner]) expect(await read(party, orderId)).toHaveLength(1)
    for (const operator of ['arbiter', { ...makeParty(), isOperator: true }] as const)
      expect((await listMessages(ctx, operator, { orderId, limit: 9 })).messages).toHaveLength(1)
    expect(await eventsOf(agent)).toHaveLength(1)
  })

  test('has one order for all who read it, even of messages within one millisecond', async () => {
    const { orderId, agent, buyer } = await makeThread()
    const words = Array.from({ length: 12 }, (_, n) => `word ${n}`)
    for (const word of words) await say(buyer, orderId, word)
    expect((await read(buyer, orderId)).map(({ content }) => content)).toEqual(words.toReversed())
    expect((await eventsOf(agent)).map(({ data }) => (data as { content: string }).content)).toEqual(words)
  })

  test('is read page by page without a gap, while others go on writing', async () => {
    const { orderId, agent, buyer } = await makeThread()
    for (let n = 0; n < 7; n++) await say(n % 2 === 0 ? buyer : itself(agent), orderId, `word ${n}`)
    const seen: string[] = []
    let cursor: string | undefined
    for (const last of [false, false, true]) {
      const page = await listMessages(ctx, buyer, { orderId, limit: 3, cursor })
      seen.push(...page.messages.map(({ content }) => content))
      expect(page.nextCursor === null).toBe(last)
      cursor = page.nextCursor ?? undefined
      await say(buyer, orderId, 'later')
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, n) => `word ${6 - n}`))
  })

  test('rejects a cursor that is not its own', async () => {
    const { orderId, buyer } = await makeThread()
    const forged = ['', 'x', '1', '1.ord_1_00000000000000000', '1.msg_1_0', "1.msg_1_00000000000000000'"]
    for (const cursor of forged)
      await expect(listMessages(ctx, buyer, { orderId, limit: 3, cursor })).rejects.toMatchObject({
        kind: 'invalid',
        extra: { details: [{ path: 'cursor' }] },
      })
  })
})

describe('what a message brings about', () => {
  test('each message of the buyer is one event for the agent, in the order of the thread, however many at once', async () => {
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

  test('a message of the agent or its owner is a word for the buyer and no event', async () => {
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
    expect(await inboxOf(owner)).toEqual([])
  })

  test('text arrives as it was written, whatever it holds', async () => {
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

  test('a message that is too long or empty is kept out by the database itself', async () => {
    const { orderId, agent, buyer } = await makeThread()
    for (const content of ['', 'x'.repeat(2001)])
      await expect(say(buyer, orderId, content)).rejects.toThrow(/order_messages_content_check/)
    expect(await eventsOf(agent)).toEqual([])
  })
})

describe('a sender’s name', () => {
  const nameOf = async (party: Party, said: { party?: Party } = {}) => {
    const { orderId } = await makeThread({ party: said.party ?? party })
    return (await say(party, orderId, 'Hello')).senderName
  }
  const person = async (said: Parameters<typeof makeProfile>[0]) => {
    const profile = makeProfile(said)
    await ctx.transact((tx) => saveAccount(ctx, tx, profile))
    return { name: `user:${profile.userId}`, userId: profile.userId, wallets: [] } as const
  }

  test('is the person’s display name, else their username, else just a client’s', async () => {
    expect(await nameOf(await person({ displayName: 'Zoë', username: 'zoe' }))).toBe('Zoë')
    expect(await nameOf(await person({ displayName: null, username: 'zoe' }))).toBe('zoe')
    expect(await nameOf(await person({}))).toBe('Client')
    expect(await nameOf({ name: 'user:never-signed-in', userId: 'never-signed-in', wallets: [] })).toBe(
      'Client',
    )
  })

  test('is the wallet, shortened and with its checksum', async () => {
    const { key, address } = makeEvmWallet()
    expect(await nameOf(makeParty(key))).toBe(`${address.slice(0, 6)}…${address.slice(-4)}`)
  })

  test('is the agent’s, of one that buys as of one that sells, whoever speaks for it', async () => {
    const buying = (await makeListedAgent(ctx)).agent
    expect(await nameOf(itself(buying))).toBe(buying.name)
    const { orderId, agent, owner } = await makeThread()
    for (const party of [itself(agent), owner])
      expect(await say(party, orderId, 'Hello')).toMatchObject({
        senderType: 'agent',
        senderName: agent.name,
      })
  })

  test('is of whoever writes: a person who linked the wallet that ordered writes as themselves', async () => {
    const wallet = makeParty()
    const { name, userId } = await person({ displayName: 'Zoë' })
    expect(await nameOf({ name, userId, wallets: wallet.wallets }, { party: wallet })).toBe('Zoë')
  })
})
