import { emitToBuyer } from '@market/core/events'
import { transact } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import type { EvmNetwork } from '@market/testing/evm-network'
import { evmSigner } from '@market/testing/evm-signer'
import { type SmartWallet, smartWallet } from '@market/testing/smart-wallet'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openStream } from '../support/event-stream.ts'
import { asHeaders, makeAgent, makeUser, signed } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'
import { until } from '../support/until.ts'
import { BRIEF, type PurchaseWorld, startPurchaseWorld } from '../x402/purchase-world.ts'

/** A smart wallet that is deployed on Base signs. On another network its address can belong to someone else. */

let world: PurchaseWorld
let serviceId: string
let sellerKey: string
let wallet: SmartWallet
beforeAll(async () => {
  world = await startPurchaseWorld()
  const seller = await world.newSeller()
  serviceId = seller.serviceId
  sellerKey = seller.apiKey
  wallet = await deployed(world.base.chain)
})
afterAll(() => world.stop())

async function deployed(chain: EvmNetwork): Promise<SmartWallet> {
  const made = await smartWallet(chain.url, evmSigner())
  await made.deploy()
  return made
}

const sign = (purpose: string) => signed(wallet, purpose, world.market.wallTime())
const ask = async (purpose: string) => ({ headers: asHeaders(await sign(purpose)) })

/** An agent whose owner wallet is the smart wallet's address, as a transfer on the network proved it. */
async function agentOf(owner_proven_by: 'base-mainnet' | 'alt-mainnet' | 'key') {
  const agent = await makeAgent(world.market)
  await world.market.db
    .updateTable('agents')
    .set({ owner_wallet: wallet.address.toLowerCase(), owner_proven_by })
    .where('id', '=', agent.id)
    .execute()
  return agent
}

describe('owner wallet', () => {
  const recover = async (agent_name: string, proof: Record<string, unknown>) =>
    world.client().post('/api/agents/recover', { agent_name, ...proof })

  test('recover: returns the API key when the contract signs on the network that proved the owner', async () => {
    const { name, apiKey } = await agentOf('base-mainnet')
    const { status, body } = await recover(name, await sign('agents.recover'))
    expect(status).toBe(200)
    expect(body.data.agents).toMatchObject([{ name, api_key: apiKey }])
  })

  test.each(['alt-mainnet', 'key'] as const)(
    'recover: returns 404 when the contract signs on Base and the owner was proven by %s',
    async (provenBy) => {
      const { name } = await agentOf(provenBy)
      const reply = await recover(name, await sign('agents.recover'))
      rejected(reply, 404, 'agent_not_found')
    },
  )

  test('recover: returns 404 for a linked wallet when the owner was proven on alt-mainnet', async () => {
    const { name } = await agentOf('alt-mainnet')
    const { token } = await makeUser(world.market, { wallets: [wallet.address] })
    const reply = await world.client().post('/api/agents/recover', { agent_name: name }, { bearer: token })
    rejected(reply, 404, 'agent_not_found')
  })

  test('update: returns 403 when the owner was proven on another network', async () => {
    const { id } = await agentOf('alt-mainnet')
    const path = `/api/agents/${id}`
    const options = await ask(`agents.update:${id}`)
    rejected(
      await world.client().patch(path, { description: 'Changed by another holder.' }, options),
      403,
      'not_your_agent',
    )
  })
})

describe('order of a smart wallet', () => {
  const create = async (): Promise<string> => {
    const options = await ask(`orders.create:${serviceId}`)
    const reply = await world.client().post('/api/orders', { service_id: serviceId, brief: BRIEF }, options)
    expect(reply.status).toBe(201)
    return reply.body.data.id
  }

  test('pay: returns 400 payer_unknown on alt-mainnet for a contract that signed on Base', async () => {
    const id = await create()
    const stored = await world.market.db
      .selectFrom('orders')
      .select('client_proven_by')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(stored.client_proven_by).toBe('base-mainnet')
    const payment = { escrow_tx_hash: `0x${'a1'.repeat(32)}`, payment_network: 'alt-mainnet' }
    const pay = async (fields: object) =>
      world
        .client()
        .patch(`/api/orders/${id}`, { action: 'pay', ...payment, ...fields }, await ask(`orders.pay:${id}`))
    rejected(await pay({}), 400, 'payer_unknown')
    const waiting = await pay({ payment_network: 'base-mainnet' })
    expect(waiting.status).toBe(202)
  })

  test('read: returns 404 for an order that the address paid on alt-mainnet, and lists only its own', async () => {
    const own = await create()
    const other = await create()
    await world.market.db
      .updateTable('orders')
      .set({ client_proven_by: 'alt-mainnet' })
      .where('id', '=', other)
      .execute()
    const session = await ask('session')
    expect((await world.client().get(`/api/orders/${own}`, session)).status).toBe(200)
    rejected(await world.client().get(`/api/orders/${other}`, session), 404, 'order_not_found')
    const { body } = await world.client().get('/api/orders?limit=100', session)
    const ids = body.data.map(({ id }: { id: string }) => id)
    expect(ids).toContain(own)
    expect(ids).not.toContain(other)
    expect((await world.client().get(`/api/orders/${other}`, { bearer: sellerKey })).status).toBe(200)
  })

  test('events: returns those of its own orders, and none of an order that the address paid on alt-mainnet', async () => {
    const accept = async (id: string) =>
      world.client().patch(`/api/orders/${id}`, { action: 'accept' }, await ask(`orders.accept:${id}`))
    const [own, other] = [await create(), await create()]
    for (const id of [own, other]) expect((await accept(id)).status).toBe(200)
    const events = async (query = '') =>
      (await world.client().get(`/api/events?role=buyer&limit=100${query}`, await ask('session'))).body
    const { next_cursor: last, data: both } = await events()
    expect(both.map(({ order_id }: { order_id: string }) => order_id)).toEqual(
      expect.arrayContaining([own, other]),
    )
    await world.market.db
      .updateTable('orders')
      .set({ client_proven_by: 'alt-mainnet' })
      .where('id', '=', other)
      .execute()
    const { next_cursor, data } = await events()
    const ids = data.map(({ order_id }: { order_id: string }) => order_id)
    expect(ids).toContain(own)
    expect(ids).not.toContain(other)
    expect(next_cursor).toBe(last)
    expect(await events(`&after=${BigInt(last ?? 0) - 1n}`)).toMatchObject({ data: [], next_cursor: last })
  })

  test('event stream: sends those of its own orders, and none of an order that the address paid on alt-mainnet', async () => {
    const [other, own] = [await create(), await create()]
    await world.market.db
      .updateTable('orders')
      .set({ client_proven_by: 'alt-mainnet' })
      .where('id', '=', other)
      .execute()
    const buyer = `wallet:${wallet.address.toLowerCase()}` as const
    const event = { event: 'order.accepted', data: { price_usd: '5.00' } } as const
    for (const id of [other, own])
      await transact(world.market.db, (tx) => emitToBuyer({ clock: systemClock }, tx, { id, buyer }, event))
    const stream = await openStream(world.market.url, {
      query: '?role=buyer',
      headers: asHeaders(await sign('session')),
    })
    onTestFinished(() => stream.close())
    await until('the own event came', () => stream.frames.some(({ data }) => data.order_id === own))
    expect(stream.frames.map(({ data }) => data.order_id)).not.toContain(other)
  })
})
