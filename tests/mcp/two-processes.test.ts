import { tools } from '@market/contract/tools'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { startPriceSource } from '../support/price-source.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import { everyTool } from './every-tool.ts'
import { CLIENTS } from './mcp-clients.ts'
import { type RoundRobin, startRoundRobin } from './round-robin.ts'

/** The unified server in two processes, of which a client reaches the one and the other in turn. */

let parts: Parts
let prices: Awaited<ReturnType<typeof startPriceSource>>
let apis: ServerProcess[]
let proxy: RoundRobin
let apiKey: string
let serviceId: string
beforeAll(async () => {
  prices = await startPriceSource()
  parts = await startParts({ PRICES_URL: prices.url })
  apis = [await startApi(parts.environment), await startApi(parts.environment)]
  proxy = await startRoundRobin(apis.map(({ url }) => url))
  const market = { client: () => client(proxy.url) } as unknown as Market
  const agent = await makeOwnedAgent(market)
  apiKey = agent.apiKey
  serviceId = (await makeService(market, agent)).id
})
afterAll(async () => {
  await proxy?.stop()
  await Promise.all((apis ?? []).map((api) => api.stop()))
  await parts?.stop()
  await prices?.stop()
})

test.each(Object.entries(CLIENTS))(
  '%s: lists and calls every tool on two processes in turn, without JSON-RPC errors',
  async (_, connect) => {
    const [before, statuses] = [[...proxy.counts], proxy.statuses.length]
    const mcp = await connect(`${proxy.url}/mcp`, apiKey)
    const listed = (await mcp.list()).map(({ name }) => name)
    const calls = everyTool(serviceId)
    expect(Object.keys(calls)).toEqual(tools.map(({ name }) => name))
    expect(listed).toEqual(Object.keys(calls))
    for (const [name, [args, status]] of Object.entries(calls)) {
      const result = await mcp.call(name, args)
      expect([name, result._meta?.['market/error']?.status, result.isError ?? false]).toEqual([
        name,
        status,
        status !== undefined,
      ])
    }
    await mcp.close()
    const [first = 0, second = 0] = proxy.counts.map((count, at) => count - (before[at] ?? 0))
    expect(Math.abs(first - second)).toBeLessThanOrEqual(1)
    expect(Math.min(first, second)).toBeGreaterThanOrEqual(Math.floor(listed.length / 2))
    expect(proxy.statuses.slice(statuses).filter((one) => one >= 500)).toEqual([])
  },
)
