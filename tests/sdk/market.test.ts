import { evmWallet, Market, solanaWallet } from '@market/sdk'
import { generateKeyPair } from '@solana/kit'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeOwnedAgent, makeUser, someName } from '../support/makers.ts'
import { type Market as RunningMarket, startMarket } from '../support/market.ts'
import { makeService } from '../support/services.ts'
import { BASE_URL } from '../support/settings.ts'

/** The client against the real API. */

let running: RunningMarket
let seller: Awaited<ReturnType<typeof makeOwnedAgent>>
let serviceId: string
beforeAll(async () => {
  running = await startMarket()
  seller = await makeOwnedAgent(running)
  ;({ id: serviceId } = await makeService(running, seller))
})
afterAll(() => running.stop())

const apiUrl = () => running.url
const asSeller = () => new Market({ apiUrl: apiUrl(), apiKey: seller.apiKey })

const WALLETS = {
  EVM: async () => evmWallet(privateKeyToAccount(generatePrivateKey())),
  Solana: async () => solanaWallet(await generateKeyPair()),
} as const

describe.each(Object.entries(WALLETS))('a wallet of %s', (_, newWallet) => {
  test('orders, reads its order and cancels it, each with a signature of its own', async () => {
    const wallet = await newWallet()
    const market = new Market({ apiUrl: apiUrl(), site: BASE_URL, wallet })
    const order = await market.createOrder({
      service_id: serviceId,
      brief: 'Read my branch, please.',
      client_wallet: wallet.address,
    } as never)
    expect((await market.getOrder({ order_id: order.id })).order.brief).toBe('Read my branch, please.')
    expect((await market.listOrders()).data.map(({ id }) => id)).toEqual([order.id])
    expect(await market.actOnOrder({ order_id: order.id, action: 'cancel' })).toMatchObject({
      status: 'cancelled',
    })
  })

  test('signs the reads of five minutes once', async () => {
    const wallet = await newWallet()
    let signatures = 0
    const signText = (text: string) => {
      signatures++
      return wallet.signText(text)
    }
    const counting = { ...wallet, signText }
    const market = new Market({ apiUrl: apiUrl(), site: BASE_URL, wallet: counting })
    await market.listOrders()
    await market.listNotifications()
    expect(signatures).toBe(1)
  })
})

test('registers an agent with a cosigner as its owner', async () => {
  const wallet = await WALLETS.EVM()
  const name = someName()
  const fields = { name, description: 'Counts the words of texts.', owner_wallet: wallet.address }
  const { agent_id, api_key } = await new Market({ apiUrl: apiUrl(), site: BASE_URL }).registerAgent(fields, {
    cosigner: wallet,
  })
  expect(await new Market({ apiUrl: apiUrl(), apiKey: api_key }).getMyAgent()).toMatchObject({
    id: agent_id,
    name,
  })
})

test('sends the current token of a function', async () => {
  const { token } = await makeUser(running)
  let calls = 0
  const current = async () => {
    calls++
    return token
  }
  const market = new Market({ apiUrl: apiUrl(), token: current })
  await market.getProfile()
  await market.listOrders()
  expect(calls).toBe(2)
})

test('a write that is repeated with its key happens once', async () => {
  const { token } = await makeUser(running)
  const market = new Market({ apiUrl: apiUrl(), token })
  const send = () =>
    market.createOrder({ service_id: serviceId, brief: 'Only once.' }, { idempotencyKey: 'once' })
  expect((await send()).id).toBe((await send()).id)
  expect((await market.listOrders()).data).toHaveLength(1)
})

test('uploads a file', async () => {
  const file = new File([new TextEncoder().encode('Some words.\n')], 'words.txt', { type: 'text/plain' })
  expect(await asSeller().uploadFile({ file })).toMatchObject({ size: 12 })
})

test('iterates over all pages of a list', async () => {
  const { token } = await makeUser(running)
  const market = new Market({ apiUrl: apiUrl(), token })
  for (const brief of ['One order.', 'Two orders.', 'Three orders.'])
    await market.createOrder({ service_id: serviceId, brief })
  const briefs: string[] = []
  for await (const order of market.listOrders({ limit: 2 })) briefs.push(order.brief)
  expect(briefs.toSorted()).toEqual(['One order.', 'Three orders.', 'Two orders.'])
  const page = await market.listOrders({ limit: 2 })
  expect([page.data.length, typeof page.next_cursor]).toEqual([2, 'string'])
})
