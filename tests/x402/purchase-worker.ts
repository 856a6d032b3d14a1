import { randomBytes } from 'node:crypto'
import { keepMining } from '../support/market-chains.ts'
import { PUBLIC_ADDRESS } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { startPurchaseWorld } from './purchase-world.ts'

/** Without other funds in the treasury, a payout waits up to 30 s for the previous one to settle. */
const FLOAT = 1_000_000_000n
const LONG_WAIT = { withinMs: 60_000, everyMs: 100 }

export type WorkerWorld = Awaited<ReturnType<typeof startWorkerWorld>>

/** The purchase world with a worker process and endpoints that record the events they receive. */
export async function startWorkerWorld() {
  const receiver = await startReceiver()
  const world = await startPurchaseWorld({}, { float: FLOAT })
  await world.market.startWorker({ ...receiver.settings, SOLANA_ACCOUNT_MINIMUM_USDC: '0' })
  const stopMining = [world.base, world.alt].map(({ chain }) => keepMining(chain))

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
      await Promise.all(stopMining.map((stop) => stop()))
      await world.stop()
      await receiver.stop()
    },
  }
}

interface ToldEvent {
  readonly event: string
  readonly order_id: string
  readonly data: Readonly<Record<string, unknown>>
}
