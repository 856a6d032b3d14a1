import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { EvmNetwork } from '@market/testing/evm-network'
import { PUBLIC_ADDRESS } from '../support/market.ts'
import { startWorker } from '../support/processes.ts'
import { sharedKeys } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

const BLOCK_MS = 100
/** Without other funds in the treasury, a payout waits up to 30 s for the previous one to settle. */
const FLOAT = 1_000_000_000n
const LONG_WAIT = { withinMs: 60_000, everyMs: 100 }

/** Blocks are mined automatically, so that transactions become final. */
function keepMining(chains: readonly EvmNetwork[]) {
  const end = new AbortController()
  const mining = (async () => {
    while (!end.signal.aborted) {
      await Promise.all(chains.map((chain) => chain.mine(1)))
      await wait(BLOCK_MS)
    }
  })()
  return async () => {
    end.abort()
    await mining
  }
}

export type WorkerWorld = Awaited<ReturnType<typeof startWorkerWorld>>

/** The purchase world with a worker process and endpoints that record the events they receive. */
export async function startWorkerWorld() {
  const [world, receiver] = await Promise.all([startPurchaseWorld({ float: FLOAT }), startReceiver()])
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, receiver.ca)
  const worker = await startWorker(workerEnvironment(world, receiver.port, caFile))
  const stopMining = keepMining([world.base.chain, world.alt.chain])

  return {
    ...world,
    /** An agent with an endpoint, and the events it received, in order. */
    newSeller: async (fields: Record<string, unknown> = {}) => {
      const host = `s${randomBytes(6).toString('hex')}.hooks.example`
      world.market.dns.answers.set(host, [PUBLIC_ADDRESS])
      const seller = await world.newSeller(fields, { endpoint_url: `https://${host}/in` })
      const told = () => {
        // A delivery is repeated when its response was late.
        const calls = Map.groupBy(receiver.callsTo(host), ({ headers }) => headers['x-market-delivery-id'])
        return [...calls.values()].map(([call]) => JSON.parse(String(call?.rawBody)) as ToldEvent)
      }
      return {
        ...seller,
        told,
        /** Waits until it received this many events. */
        heard: async (count: number) => {
          await until(`${seller.id} was told ${count}`, () => told().length >= count, LONG_WAIT)
          return told().map(({ event }) => event)
        },
      }
    },
    eventually: (what: string, isSo: () => Promise<boolean>) => until(what, isSo, LONG_WAIT),
    stop: async () => {
      await worker.stop()
      await stopMining()
      await world.stop()
      await receiver.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface ToldEvent {
  readonly event: string
  readonly order_id: string
  readonly data: Readonly<Record<string, unknown>>
}

function workerEnvironment(
  { market, chains, base, alt, solana }: PurchaseWorld,
  port: number,
  caFile: string,
) {
  const { DATABASE_URL = '' } = market.environment as Record<string, string>
  return {
    ...chains,
    DATABASE_URL,
    ...sharedKeys(market.environment),
    DNS_SERVERS: market.environment.DNS_SERVERS,
    CLOCK_FILE: market.environment.CLOCK_FILE,
    OUTBOUND_REROUTE: `${PUBLIC_ADDRESS}=127.0.0.1:${port}`,
    OUTBOUND_CA_FILE: caFile,
    BASE_TREASURY_KEY: base.treasuryKey,
    ALT_TREASURY_KEY: alt.treasuryKey,
    SOLANA_TREASURY_KEY: solana.treasuryKey,
    SOLANA_ACCOUNT_MINIMUM_USDC: '0',
  }
}
