import { evmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { makeAgent, makeUser, type Signer, signed } from '../support/makers.ts'
import { SHORT_WAIT } from '../support/settings.ts'
import { makeWalletAgent, newAddress, startWalletMarket, type WalletMarket } from './wallet-market.ts'

let world: WalletMarket
beforeAll(async () => {
  world = await startWalletMarket(SHORT_WAIT)
})
afterAll(() => world.market.stop())

/** An agent with its owner: a wallet that can sign, or a user. */
interface Owned {
  readonly id: string
  readonly apiKey: string
  readonly owner?: Signer
  readonly token?: string
}

const OWNERS: Readonly<Record<string, () => Promise<Owned>>> = {
  'an EVM wallet': () => makeWalletAgent(world, { owner: evmSigner() }),
  'a Solana wallet': async () => makeWalletAgent(world, { owner: await solanaSigner() }),
  'a smart wallet': async () => {
    const { address, sign, deploy } = await smartWallet(world.base.url, evmSigner())
    await deploy()
    return makeWalletAgent(world, { owner: { address, sign } })
  },
  'a user': async () => {
    const { token } = await makeUser(world.market)
    return { ...(await makeAgent(world.market, { idp_access_token: token })), token }
  },
}

const KEY = 'A'.repeat(43)

/** The routes by which money or a key can leave the wallet, with what a wallet signs for each. */
const ROUTES = {
  'set the withdraw address': (id: string, to: string) => ({
    ...{ method: 'PUT', path: `/api/agents/${id}/withdraw-address`, body: { address: to } },
    purpose: `wallets.withdraw-address:${id}:${to}`,
  }),
  withdraw: () => ({
    ...{ method: 'POST', path: '/api/agents/me/withdraw', body: { asset: 'SOL', amount: 0.1 } },
    purpose: 'session',
  }),
  send: (id: string, to: string) => ({
    ...{ method: 'POST', path: `/api/agents/${id}/wallet/send` },
    ...{ body: { chain: 'solana', asset: 'SOL', to, amount: 0.1 } },
    purpose: `wallets.send:${id}:SOL:${to}:0.1`,
  }),
  'export the key': (id: string) => ({
    ...{ method: 'POST', path: `/api/agents/${id}/export-key`, body: { public_key: KEY } },
    purpose: `wallets.export:${id}:${KEY}`,
  }),
} as const

type RouteName = keyof typeof ROUTES

type Credential = (agent: Owned, purpose: string) => Promise<RequestOptions & { fields?: object }>

const CREDENTIALS: Readonly<Record<string, Credential>> = {
  'no credential': async () => ({}),
  'its API key': async ({ apiKey }) => ({ bearer: apiKey }),
  'the API key of another agent': async () => ({ bearer: (await makeAgent(world.market)).apiKey }),
  'the token of another user': async () => ({ bearer: (await makeUser(world.market)).token }),
  'a signature of another wallet': async (_, purpose) => ({ fields: await signed(evmSigner(), purpose) }),
  'the owner’s token': async ({ token }) => ({ bearer: token ?? '' }),
  'the owner’s signature': async ({ owner }, purpose) => ({
    fields: await signed(owner as Signer, purpose),
  }),
  'the owner’s signature for reading': async ({ owner }) => ({
    fields: await signed(owner as Signer, 'session'),
  }),
}

/** What is accepted. Everything else is 401 or 403. `withdraw` sends only where the owner set an address: here 409. */
const ACCEPTED: Readonly<Record<RouteName, readonly string[]>> = {
  'set the withdraw address': ['the owner’s token', 'the owner’s signature'],
  withdraw: ['its API key', 'the API key of another agent'],
  send: ['the owner’s signature'],
  'export the key': ['the owner’s signature'],
}

/** Whether this owner has the credential: a user signs nothing, and a wallet has no token. */
const has = (owner: string, credential: string): boolean =>
  owner === 'a user' ? !credential.startsWith('the owner’s signature') : credential !== 'the owner’s token'

const cells = Object.keys(OWNERS).flatMap((owner) =>
  (Object.keys(ROUTES) as RouteName[]).flatMap((route) =>
    Object.keys(CREDENTIALS)
      .filter((credential) => has(owner, credential))
      .map((credential) => [route, owner, credential] as const),
  ),
)

describe('the wallet of an agent', () => {
  test.each(cells)('%s, owned by %s, with %s', async (route, owner, credential) => {
    const agent = await (OWNERS[owner] as () => Promise<Owned>)()
    const { method, path, body, purpose } = ROUTES[route](agent.id, await newAddress())
    const { fields, ...ask } = await (CREDENTIALS[credential] as Credential)(agent, purpose)
    // No worker runs, so an accepted operation would wait: it is enough to see that it was stored.
    const reply = world.market.client().send(method, path, { ...ask, body: { ...body, ...fields } })
    const isAccepted = ACCEPTED[route].includes(credential)
    if (isAccepted && (route === 'send' || route === 'export the key')) {
      reply.catch(() => undefined)
      await expect.poll(() => storedKinds(agent.id), { timeout: 60_000 }).toEqual([KINDS[route]])
      return
    }
    const { status } = await reply
    if (route === 'withdraw' && isAccepted) expect(status).toBe(409)
    else if (isAccepted) expect(status).toBe(200)
    else expect([401, 403]).toContain(status)
    expect(await storedKinds(agent.id)).toEqual([])
  })
})

const KINDS = { send: 'send', 'export the key': 'export' } as const

const storedKinds = async (agentId: string): Promise<string[]> => {
  const rows = await world.market.db
    .selectFrom('wallet_transactions')
    .select('kind')
    .where('agent_id', '=', agentId)
    .execute()
  return rows.map(({ kind }) => kind)
}
