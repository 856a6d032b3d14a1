import { DAY, HOUR } from '@market/kernel/clock'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { untilNotified, walletOf } from '../support/agent-wallets.ts'
import { DESCRIPTION, makeAgent, makeUser, someName } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'
import { until } from '../support/until.ts'
import {
  callsOf,
  lamportsOf,
  makeWalletAgent,
  newAddress,
  SOL,
  startWalletMarket,
  type WalletAgent,
  type WalletMarket,
} from './wallet-market.ts'

const SUPPLY = 10n ** 15n

let world: WalletMarket
beforeAll(async () => {
  world = await startWalletMarket()
  await world.market.startWorker({ SWEEP_INTERVAL_MS: '100' })
})
afterAll(() => world.market.stop())

/** The newest operation of the agent once it is done. */
const done = async (calls: ReturnType<typeof callsOf>) => {
  await until('the operation is done', async () => {
    const { body } = await calls.operations()
    return body.data[0].status === 'done'
  })
  return (await calls.operations()).body.data[0]
}

/** As the node counts it. */
const tokenBalanceOf = async (owner: string, mint: string): Promise<bigint> => {
  const config = { encoding: 'jsonParsed', commitment: 'confirmed' }
  const { value } = (await world.solana.chain.call('getTokenAccountsByOwner', owner, { mint }, config)) as {
    readonly value: readonly {
      readonly account: {
        readonly data: {
          readonly parsed: { readonly info: { readonly tokenAmount: { readonly amount: string } } }
        }
      }
    }[]
  }
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n)
}

test('a launched token leaves the wallet of an agent that only a user owns, and then the account can be deleted', async () => {
  const { token: bearer } = await makeUser(world.market)
  const made = await makeAgent(world.market, {
    name: someName(),
    description: DESCRIPTION,
    avatar_url: 'https://images.example/painter.png',
    idp_access_token: bearer,
  })
  await world.market.db
    .updateTable('agents')
    .set({ twitter_username: 'painter' })
    .where('id', '=', made.id)
    .execute()
  const wallet = await walletOf(world.market, made.id)
  await world.solana.chain.fundSol(wallet, SOL)
  const agent = { ...made, wallet } as unknown as WalletAgent
  const calls = callsOf(world, agent)
  await calls.launch()
  const { mint } = await done(calls)
  expect((await calls.funding()).body.data.tokens).toEqual([{ mint, amount: '1000000000', decimals: 6 }])

  const remove = () => world.market.client().send('DELETE', '/api/profile', { bearer })
  const reply = await remove()
  rejected(reply, 409, 'account_has_money_in_wallets', {
    wallets: [
      { agent_id: agent.id, asset: 'SOL', amount: expect.any(Number) },
      { agent_id: agent.id, asset: mint, amount: '1000000000' },
    ],
  })
  expect(reply.body.error).toContain(`1000000000 of the token ${mint} (${agent.id})`)

  const to = await newAddress()
  const set = await world.market
    .client()
    .put(`/api/agents/${agent.id}/withdraw-address`, { address: to }, { bearer })
  expect(set.body.data.pending_address).toBe(to)
  await untilNotified(world.market, agent.id)
  await world.market.advance(DAY + HOUR)
  expect([200, 202]).toContain((await calls.withdraw({ asset: mint, amount: '0.000001' })).status)
  expect(await done(calls)).toMatchObject({ kind: 'withdraw', asset: mint, amount: '0.000001', to })
  expect([200, 202]).toContain((await calls.withdraw({ asset: mint })).status)
  expect(await done(calls)).toMatchObject({ asset: mint, amount: '999999999.999999', to })
  expect(await tokenBalanceOf(to, mint)).toBe(SUPPLY)
  expect(await tokenBalanceOf(wallet, mint)).toBe(0n)

  rejected(await remove(), 409, 'account_has_money_in_wallets', {
    wallets: [{ agent_id: agent.id, asset: 'SOL', amount: expect.any(Number) }],
  })
  await calls.withdraw({ asset: 'SOL' })
  await done(calls)
  expect(await lamportsOf(world, wallet)).toBe(0n)
  expect((await remove()).status).toBe(200)
})

test('a token of the Token program leaves by the owner wallet’s signature of its mint and amount', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  const mint = await newAddress()
  const token = await installSolanaUsdc(world.solana.chain, world.solana.issuer, { mint, decimals: 9 })
  await token.fund(agent.wallet, 2_000_000_001n)
  const to = await newAddress()
  expect([200, 202]).toContain((await calls.send({ asset: mint, to, amount: '1.000000001' })).status)
  expect(await done(calls)).toMatchObject({ kind: 'send', asset: mint, amount: '1.000000001', to })
  expect(await token.balanceOf(to)).toBe(1_000_000_001n)
  await calls.send({ asset: mint, to })
  await until('everything has left', async () => (await token.balanceOf(to)) === 2_000_000_001n)
})
