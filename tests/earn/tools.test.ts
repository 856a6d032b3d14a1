import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLIENTS, type McpClient } from '../mcp/mcp-clients.ts'
import { decideNext, type EarnWorld, giveShares, LENDING, startEarnWorld } from '../support/earn.ts'
import { makeOwnedAgent } from '../support/makers.ts'

const SHARES = {
  burned_shares: '100000000000000',
  paid_micros: 100_000_000n,
  filled_micros: 100_000_000n,
} as const

let world: EarnWorld
beforeAll(async () => {
  world = await startEarnWorld()
})
afterAll(() => world?.stop())

/** An agent with shares, for which its owner's wallet paid, and a transfer of that wallet. */
async function newHolder() {
  const owner = await world.newBuyer()
  const agent = await makeOwnedAgent(world.market, {}, owner)
  const holder = `agent:${agent.id}`
  await giveShares(world.market, holder, { payers: [owner.address.toLowerCase()] })
  await world.refresh()
  return { owner, holder, apiKey: agent.apiKey, hash: await world.settled(owner, 5_000_000n) }
}

const dataOf = async (mcp: McpClient, name: string, args: Record<string, unknown> = {}) => {
  const result = await mcp.call(name, args)
  if (result.isError === true) throw new Error(`${name}: ${JSON.stringify(result.content)}`)
  return result.structuredContent
}

test.each(Object.entries(CLIENTS))('%s: each tool of Earn does its work', async (_, connect) => {
  const { owner, holder, apiKey, hash } = await newHolder()
  const mcp = await connect(`${world.market.url}/mcp`, apiKey)
  const markets = await dataOf(mcp, 'market_earn_markets')
  expect(markets.data).toMatchObject({
    treasury_wallet: world.treasury,
    markets: [{ key: LENDING.key, depositable: true }, {}],
  })
  const deposited = await dataOf(mcp, 'market_earn_deposit', {
    ...{ amount_usd: '5.00', incoming_tx_hash: hash },
    ...(await owner.proof(`earn.deposit:${hash}`)),
  })
  expect(deposited.data).toMatchObject({ status: 'received', amount_usd: '5.00', incoming_tx_hash: hash })
  const held = await dataOf(mcp, 'market_earn_positions')
  expect(held.data).toMatchObject([{ key: LENDING.key, shares: '100.000000000000' }])
  const [withdrawn] = await Promise.all([
    dataOf(mcp, 'market_earn_withdraw', { all: true }),
    decideNext(world.market, holder, { ...SHARES, status: 'settled' }),
  ])
  expect(withdrawn.data).toMatchObject({ status: 'settled', destination_wallet: owner.address })
  await mcp.close()
})
