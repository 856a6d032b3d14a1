import { isWrite } from '@market/contract/define'
import { operationList, operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid } from '../support/rejected.ts'
import { BASE_URL } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

const PATH = '/api/auth/message'
const ORDER_ACTIONS = operations.actOnOrder.input.shape.action.options

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const ask = (query: Record<string, string>) => market.client().get(`${PATH}?${new URLSearchParams(query)}`)

commonErrors({
  market: () => market,
  operation: operations.getAuthMessage,
  good: async () => ({ path: `${PATH}?wallet=${evmSigner().address}` }),
})

test('200: the text for a wallet; by default for now and for a session', async () => {
  const { address } = evmSigner()
  const before = market.now()
  const { status, body } = await ask({ wallet: address.toLowerCase() })
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: {
      message: expect.any(String),
      wallet: address,
      wallet_chain: 'base',
      purpose: 'session',
      wallet_sig_ts: expect.any(Number),
      expires_at: expect.stringMatching(INSTANT),
    },
  })
  expect(body.data.wallet_sig_ts).toBeGreaterThanOrEqual(before)
  expect(body.data.wallet_sig_ts).toBeLessThanOrEqual(market.now())
  expect(Date.parse(body.data.expires_at)).toBe(body.data.wallet_sig_ts + 300_000)
  const lines = body.data.message.split('\n')
  expect(lines[0]).toBe(`${new URL(BASE_URL).host} wants you to sign in with your Ethereum account:`)
  expect(lines).toContain(address)
  expect(lines).toContain(`URI: ${BASE_URL}`)
  expect(lines).toContain(`Nonce: ${body.data.wallet_sig_ts}`)
  expect(lines.at(-1)).toBe('Request ID: session')
})

test('200: the text says in plain words what the signature allows', async () => {
  const { address: wallet } = evmSigner()
  const { body } = await ask({ wallet, purpose: 'agents.recover' })
  expect(body.data.message).toContain(
    'Show the API keys of all agents that this wallet owns. Whoever has a key can act as the agent.',
  )
})

test('200: every write that a wallet can sign has a purpose with its own words', async () => {
  const { address: wallet } = evmSigner()
  const texts = new Map<string, string>()
  for (const { id, purpose, callers } of operationList.filter(isWrite)) {
    if (!callers.includes('wallet')) continue
    const actions = purpose?.includes('{action}') ? ORDER_ACTIONS : ['']
    for (const action of actions) {
      const asked = (purpose ?? 'session').replace('{action}', action).replace(/\{\w+\}/g, 'x')
      const { status, body } = await ask({ wallet, purpose: asked, ts: '1760000000000' })
      expect([id, status]).toEqual([id, 200])
      texts.set(asked, body.data.message.split('\n')[3])
    }
  }
  expect(new Set(texts.values()).size).toBe(texts.size)
  expect([...texts.keys()]).not.toContain('session')
})

test('400: a purpose that no request uses', async () => {
  for (const purpose of ['agents.ownr:agt_1', 'withdraw', 'orders', 'toString'])
    invalid(await ask({ wallet: evmSigner().address, purpose }), 'purpose')
})

test('200: the same text for the same time and purpose, another text otherwise', async () => {
  const { address: wallet } = await solanaSigner()
  const ts = String(market.now())
  const query = { wallet, ts, purpose: 'agents.recover', wallet_chain: 'solana' }
  const [one, two, later, other] = await Promise.all([
    ask(query),
    ask(query),
    ask({ ...query, ts: String(market.now() + 1_000) }),
    ask({ ...query, purpose: 'session' }),
  ])
  expect(one.body.data).toMatchObject({ wallet, wallet_chain: 'solana', wallet_sig_ts: Number(ts) })
  expect(two.body.data.message).toBe(one.body.data.message)
  expect(later.body.data.message).not.toBe(one.body.data.message)
  expect(other.body.data.message).not.toBe(one.body.data.message)
})

test('200: a signature over the returned text verifies, for wallets of both chains', async () => {
  for (const signer of [evmSigner(), await solanaSigner()]) {
    const name = someName()
    const { body } = await ask({ wallet: signer.address, purpose: `agents.register:${name}` })
    const reply = await market.client().post('/api/agents/register', {
      name,
      description: DESCRIPTION,
      wallet: signer.address,
      wallet_sig: await signer.sign(body.data.message),
      wallet_sig_ts: body.data.wallet_sig_ts,
      wallet_chain: body.data.wallet_chain,
    })
    expect(reply.status).toBe(201)
    expect(reply.body.data.marketable).toBe(true)
  }
})

test('400: a missing or invalid wallet, one of another chain, and one without a key', async () => {
  invalid(await market.client().get(PATH), 'wallet')
  invalid(await ask({ wallet: 'nobody' }), 'wallet')
  invalid(await ask({ wallet: evmSigner().address, wallet_chain: 'solana' }), 'wallet')
  invalid(await ask({ wallet: (await solanaSigner()).address, wallet_chain: 'base' }), 'wallet')
  invalid(await ask({ wallet: `0x${'0'.repeat(40)}` }), 'wallet')
  invalid(await ask({ wallet: '11111111111111111111111111111111' }), 'wallet')
})

test('400: a time in seconds, an invalid time, a purpose of two lines, and an unknown chain', async () => {
  const wallet = evmSigner().address
  const seconds = await ask({ wallet, ts: String(Math.floor(market.now() / 1_000)) })
  invalid(seconds, 'wallet_sig_ts')
  invalid(await ask({ wallet, ts: 'today' }), 'ts')
  invalid(await ask({ wallet, ts: '1.5' }), 'ts')
  invalid(await ask({ wallet, purpose: 'session\nRequest ID: more' }), 'purpose')
  invalid(await ask({ wallet, purpose: 'x'.repeat(301) }), 'purpose')
  invalid(await ask({ wallet, wallet_chain: 'bitcoin' }), 'wallet_chain')
})
