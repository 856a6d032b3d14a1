import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Reply } from '../support/client.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'
import {
  callsOf,
  lamportsOf,
  makeWalletAgent,
  SOL,
  startWalletMarket,
  transactionsOf,
} from './wallet-market.ts'

const LAUNCHES = 50
const SWEEPS = { SWEEP_INTERVAL_MS: '100' }

/** Repeats a request whose connection broke, as a client does that got no response. */
async function retried(send: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    try {
      return await send()
    } catch {
      await wait(50)
    }
  }
}

test('50 concurrent launches while api and worker are killed: one mint, one charge, the others 409', async () => {
  let api: ServerProcess | undefined
  const world = await startWalletMarket(
    {},
    {
      run: async (environment) => {
        const running = await startApi(environment)
        api = running
        return { url: running.url, logText: running.output, stop: async () => api?.stop() }
      },
    },
  )
  const { market } = world
  try {
    const agent = await makeWalletAgent(world)
    const calls = callsOf(world, agent)
    const { requirements } = (await calls.funding()).body.data
    const isInStatus = async (...statuses: string[]) => {
      const rows = await market.db.selectFrom('wallet_transactions').select('status').execute()
      return rows.some(({ status }) => statuses.includes(status))
    }
    const symbols = Array.from({ length: LAUNCHES }, (_, n) => `COIN${n}`)
    const replies = symbols.map((symbol) => retried(() => calls.launch(symbol)))

    await until('a launch is requested', () => isInStatus('requested', 'signed', 'done'))
    const before = api as unknown as ServerProcess
    before.kill('SIGKILL')
    await before.exited
    const worker = await market.startWorker(SWEEPS)
    await until('it is signed', () => isInStatus('signed', 'done'))
    worker.kill('SIGKILL')
    await worker.exited
    api = await startApi(market.environment, { port: before.port })
    await market.startWorker(SWEEPS)

    const statuses = (await Promise.all(replies)).map(({ status }) => status)
    await until('it is launched', () => isInStatus('done'))
    expect(statuses.filter((status) => status === 409).length).toBeGreaterThanOrEqual(LAUNCHES - 1)
    expect(statuses.filter((status) => ![200, 202, 409].includes(status))).toEqual([])

    const operations = await market.db.selectFrom('wallet_transactions').selectAll().execute()
    expect(operations).toHaveLength(1)
    const effective = (await transactionsOf(world, agent.wallet)).filter(({ err }) => err === null)
    expect(effective.map(({ signature }) => signature)).toEqual([operations[0]?.reference])
    const charged = SOL - (await lamportsOf(world, agent.wallet))
    expect(charged).toBeGreaterThan(0n)
    expect(charged).toBeLessThanOrEqual(BigInt(Math.round(requirements.launch.cost_sol * 1e9)))
    const token = await market.client().get(`/api/agents/${agent.id}/token`)
    expect(token.body.data.token_mint).toBe(operations[0]?.mint)
  } finally {
    await market.stop()
  }
})
