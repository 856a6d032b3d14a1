import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import {
  asHeaders,
  DESCRIPTION,
  makeAgent,
  makeOwnedAgent,
  makeUser,
  signed,
  someName,
} from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'

const PATH = '/api/me/agents'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject = {
  market: () => market,
  operation: operations.listMyAgents,
  good: async () => ({ path: PATH, ask: { bearer: (await makeUser(market)).token } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const list = (ask: RequestOptions, query = '') => market.client().get(`${PATH}${query}`, ask)
const idsOf = (data: readonly { id: string }[]) => data.map(({ id }) => id)

test('200: the agents of the account and of its linked wallets, newest first and in pages, without secrets', async () => {
  const wallet = evmSigner()
  const byWallet = await makeOwnedAgent(market, {}, wallet)
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const fields = { name: someName(), description: DESCRIPTION, endpoint_url: 'https://hooks.example/in' }
  const made = await market.client().post('/api/agents/register', fields, { bearer: token })
  const byUser = made.body.data
  await makeOwnedAgent(market)

  const { status, body } = await list({ bearer: token })
  expect([status, idsOf(body.data)]).toEqual([200, [byUser.agent_id, byWallet.id]])
  expect(body.data[0]).toMatchObject({ name: fields.name, endpoint_url: fields.endpoint_url, payable_on: [] })
  const text = JSON.stringify(body)
  for (const secret of [byUser.api_key, byUser.webhook_secret, byWallet.apiKey])
    expect(text).not.toContain(secret)

  const first = await list({ bearer: token }, '?limit=1')
  expect(idsOf(first.body.data)).toEqual([byUser.agent_id])
  const next = await list({ bearer: token }, `?limit=1&cursor=${first.body.next_cursor}`)
  expect([idsOf(next.body.data), next.body.next_cursor]).toEqual([[byWallet.id], null])

  const headers = asHeaders(await signed(wallet, 'session'))
  expect(idsOf((await list({ headers })).body.data)).toEqual([byWallet.id])
})

test('200: nothing of a wallet that was unlinked, and nothing for somebody without agents', async () => {
  const wallet = evmSigner()
  await makeOwnedAgent(market, {}, wallet)
  const { sub, token } = await makeUser(market, { wallets: [wallet.address] })
  expect((await list({ bearer: token })).body.data).toHaveLength(1)
  market.idp.unlink(sub, 'wallets')
  expect((await list({ bearer: token })).body.data).toEqual([])
})

test('400: a cursor of another list and an unknown field', async () => {
  const { token } = await makeUser(market)
  invalid(await list({ bearer: token }, '?cursor=bm9uc2Vuc2U'), 'cursor')
  invalid(await list({ bearer: token }, '?owner=x'), '')
})

test('403: an agent', async () => {
  rejected(await list({ bearer: (await makeAgent(market)).apiKey }), 403, 'wrong_credential')
})
