import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import { type JourneyWorld, startJourneys } from '../journeys/order-journeys.ts'
import { startPostgresCluster } from '../support/postgres-cluster.ts'
import { until } from '../support/until.ts'
import { makeWalletAgent, SOL, type WalletMarket } from '../wallets/wallet-market.ts'
import {
  carryOn,
  type FailoverOrder,
  followEvents,
  makeSeller,
  newSend,
  register,
  type Send,
  startOrder,
  type Written,
} from './clients.ts'

const NETWORKS = ['base-mainnet', 'solana-mainnet'] as const satisfies readonly Network[]
const SELLERS_PER_NETWORK = 2
const SENDERS = 2

/** A worker that is started again when it ends, as a process manager does. */
function supervise({ market, worker: first, receiver }: JourneyWorld) {
  let worker = first
  let isWanted = true
  const start = async () => {
    worker = await market.startWorker(receiver.settings)
    return true
  }
  const following = (async () => {
    while (isWanted) {
      await worker.exited
      if (isWanted) await until('the worker started again', () => start().catch(() => false))
    }
  })()
  return async () => {
    isWanted = false
    await worker.stop()
    await following
  }
}

export type BusyMarket = Awaited<ReturnType<typeof startBusyMarket>>

/** Api and worker on a Postgres cluster and two chains, and sellers, buyers and wallets that are busy until `finish`. */
export async function startBusyMarket() {
  const cluster = await startPostgresCluster()
  const world = await startJourneys({ networks: NETWORKS, database: cluster.database })
  const { places, market } = world
  const { 'solana-mainnet': solana, 'base-mainnet': base } = market.chains
  const wallets = { market, solana: solana.chain, base: base.chain } as unknown as WalletMarket
  const sellers = await Promise.all(
    NETWORKS.flatMap((network) =>
      Array.from({ length: SELLERS_PER_NETWORK }, () => makeSeller(market, network, places[network])),
    ),
  )
  const senders = await Promise.all(
    Array.from({ length: SENDERS }, () => makeWalletAgent(wallets, { lamports: 90n * SOL })),
  )
  const readers = sellers.map((seller) => ({ seller, events: followEvents(market, seller) }))
  let stopWorker = supervise(world)

  const written: Written[] = []
  const orders: FailoverOrder[] = []
  const sends: Send[] = []
  const registered: string[] = []
  const end = new AbortController()
  const busyWith = async (work: () => Promise<unknown>) => {
    while (!end.signal.aborted) await work()
  }
  const busy = Promise.all([
    ...sellers.map((seller) =>
      busyWith(async () => {
        const order = await startOrder(market, seller, written)
        orders.push(order)
        await carryOn(market, order, written)
      }),
    ),
    ...senders.map((agent) =>
      busyWith(async () => {
        const send = await newSend(market, agent, written)
        sends.push(send)
        await send.request()
      }),
    ),
    busyWith(async () => {
      registered.push(await register(market, written))
      await wait(100)
    }),
  ])
  // Whoever awaits it later still sees the error.
  busy.catch(() => {})
  const completed = (network: Network) =>
    orders.filter(({ seller, done }) => seller.network === network && done.has('approve')).length

  return {
    ...{ cluster, market, wallets, readers, written, orders, sends, registered },
    /** Until so many more orders of each network are completed, and this time is over. */
    untilCompleted: async (more: number, forMs = 0) => {
      const [since, before] = [Date.now(), NETWORKS.map(completed)]
      const isCompleted = () =>
        NETWORKS.every((network, at) => completed(network) >= (before[at] ?? 0) + more) &&
        Date.now() - since >= forMs
      const polling = until(`${more} more orders of each network`, isCompleted, { withinMs: 300_000 })
      await Promise.race([polling, busy])
      await polling
    },
    stopWorker: () => stopWorker(),
    startWorker: async () => {
      let worker: JourneyWorld['worker'] | undefined
      await until('the worker started again', async () => {
        worker = await market.startWorker(world.receiver.settings).catch(() => undefined)
        return worker !== undefined
      })
      if (worker !== undefined) stopWorker = supervise({ ...world, worker })
    },
    /** Every client ends, once it has repeated what it was told is done, and did again what the database has lost. */
    finish: async () => {
      end.abort()
      await busy
      for (const send of sends) await send.request()
      await Promise.all(orders.map((order) => carryOn(market, order, written)))
    },
    stop: async () => {
      end.abort()
      await stopWorker()
      await Promise.all(readers.map(({ events }) => events.stop().catch(() => {})))
      await world.stop()
    },
  }
}
