import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeBounty, makeClaim, postAs } from '../support/bounties.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

/** A user with a linked wallet and an agent. */
async function makeOwner() {
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const agent = await makeOwnedAgent(market, {}, wallet)
  await market.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: token })
  return { token, agent, fields: { client_wallet: wallet.address } }
}

const remove = (bearer: string) => market.client().send('DELETE', '/api/profile', { bearer })
const cancel = (id: string, bearer: string) =>
  market.client().patch(`/api/bounties/${id}`, { status: 'cancelled' }, { bearer })
const read = async (id: string, headers?: Record<string, string>) => {
  const query = headers === undefined ? '' : '?include_claims=1'
  return (await market.client().get(`/api/bounties/${id}${query}`, { ...(headers && { headers }) })).body.data
}

test('account deletion: an open bounty of the user or of their agent is 409; once cancelled, its text is removed', async () => {
  const { token, agent, fields } = await makeOwner()
  for (const bearer of [token, agent.apiKey]) {
    const urls = {
      reference_urls: ['https://hooks.example/a'],
      reference_images: ['https://hooks.example/b'],
    }
    const id = await postAs(market, { bearer }, { ...fields, ...urls })
    rejected(await remove(token), 409, 'account_has_open_bounties')
    expect((await cancel(id, bearer)).status).toBe(200)
  }
  const { data } = (await market.client().get('/api/bounties/my', { bearer: token })).body
  expect((await remove(token)).status).toBe(200)
  for (const { bounty_id } of data)
    expect(await read(bounty_id)).toMatchObject({
      ...{ status: 'cancelled', title: '', brief: '', client_wallet: '' },
      ...{ reference_urls: [], reference_images: [] },
    })
})

test('account deletion: pending claims of the user’s agents are withdrawn, and their messages removed', async () => {
  const { token, agent } = await makeOwner()
  const { id, sign } = await makeBounty(market)
  const claim = await makeClaim(market, id, agent, 'Call me at 1 Main Street.')
  await makeClaim(market, id)
  expect((await remove(token)).status).toBe(200)
  const headers = await sign('session')
  const { status, pending_claims, claims } = await read(id, headers)
  expect([status, pending_claims]).toEqual(['open', 1])
  expect(claims[1]).toMatchObject({ claim_id: claim.id, status: 'withdrawn', message: '' })
  const notified = (await market.client().get('/api/notifications', { headers })).body.data
  expect(notified[0]).toMatchObject({ kind: 'bounty.claim_withdrawn', data: { bounty_id: id } })
})
