import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import { evmPlace, solanaPlace, type Wallet } from '../journeys/order-journeys.ts'
import { makeOwnedAgent, signed } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import type { ChainPace } from '../support/market-chains.ts'
import { BRIEF } from '../support/orders.ts'
import { startApi } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import { setPayout } from '../support/set-payout.ts'
import { PUBLIC_ADDRESS } from '../support/settings.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { type CountingProxy, startCountingProxy } from './counting-proxy.ts'

export type PaidNetwork = Extract<Network, 'base-mainnet' | 'solana-mainnet'>
const NETWORKS: readonly PaidNetwork[] = ['base-mainnet', 'solana-mainnet']
const PROVIDERS = 2

const PRICE = 2_000_000n
/** More than all payouts that are under way together. */
const FLOAT = 1_000_000_000_000n
const LOOK_EVERY_MS = 500
const ANVIL_GAS_PER_BLOCK = 200_000_000

type Proxies = Readonly<Record<PaidNetwork, readonly CountingProxy[]>>
type Call = Promise<{ readonly status: number; readonly body: { readonly data?: { readonly id: string } } }>

/** Api, Base and Solana with two providers each for the api and for the workers, buyers with USDC, and sellers with webhooks. */
export async function startSettlement(
  pace: ChainPace,
  { buyers, sellers }: { buyers: number; sellers: number },
) {
  const receiver = await startReceiver()
  let [forApi, forWorkers] = [{} as Proxies, {} as Proxies]
  let apiPid = 0
  const market = await startMarket(
    { ONE_PROVIDER: '', DATABASE_POOL: '10' },
    {
      chains: NETWORKS,
      float: FLOAT,
      mines: true,
      pace,
      run: async (environment) => {
        ;[forApi, forWorkers] = [await proxiesOf(environment), await proxiesOf(environment)]
        const { url, pid, output, stop } = await startApi({ ...environment, ...urlsOf(forApi) })
        apiPid = pid
        return { url, logText: output, stop }
      },
    },
  )
  const base = market.chains['base-mainnet'].chain
  await base.rpc('evm_setBlockGasLimit', [ANVIL_GAS_PER_BLOCK])
  // Until there is a final block.
  await base.mine(2 * pace.slotsInAnEpoch + 4)
  const places = {
    'base-mainnet': evmPlace(market.chains['base-mainnet']),
    'solana-mainnet': solanaPlace(market.chains['solana-mainnet']),
  }

  const makeSeller = async (network: PaidNetwork, n: number) => {
    const host = `seller${n}.hooks.example`
    market.dns.answers.set(host, [PUBLIC_ADDRESS])
    const agent = await makeOwnedAgent(market, { endpoint_url: `https://${host}/in` })
    // Somebody with an EVM wallet says where they want to be paid on Solana.
    if (network === 'solana-mainnet')
      await setPayout(market, agent, 'payout_wallet', (await places[network].newWallet()).address)
    return { agent, service: await makeService(market, agent, { price_usd: '2.00' }) }
  }
  /** Payments of one wallet follow each other, because they are numbered. */
  const makeBuyer = async (network: PaidNetwork) => {
    const wallet = await places[network].newWallet()
    let last: Promise<unknown> = Promise.resolve()
    const pay = (): Promise<string> => {
      const payment = last.then(() => wallet.pay(PRICE))
      last = payment.catch(() => undefined)
      return payment
    }
    return { wallet, pay }
  }
  const sideOf = async (network: PaidNetwork, first: number) => ({
    sellers: await someAtOnce(sellers, (n) => makeSeller(network, first + n)),
    buyers: await someAtOnce(buyers, () => makeBuyer(network)),
  })
  const sides = {
    'base-mainnet': await sideOf('base-mainnet', 0),
    'solana-mainnet': await sideOf('solana-mainnet', sellers),
  }
  const paid = waitUntilPaid(market.db)

  /** One order: created, paid on its chain, delivered and approved. */
  const live = async (network: PaidNetwork, n: number): Promise<void> => {
    const side = sides[network]
    const [seller, buyer] = [side.sellers[n % sellers], side.buyers[n % buyers]]
    if (seller === undefined || buyer === undefined) throw new Error('nobody buys or sells')
    const proof = (purpose: string) => signed(buyer.wallet satisfies Wallet, purpose)
    const client = market.client()
    const order = { service_id: seller.service.id, brief: BRIEF }
    const { id } = await done(
      client.post('/api/orders', { ...order, ...(await proof(`orders.create:${seller.service.id}`)) }),
    )
    const path = `/api/orders/${id}`
    const payment = { escrow_tx_hash: await buyer.pay(), payment_network: network }
    await done(client.patch(path, { action: 'pay', ...payment, ...(await proof(`orders.pay:${id}`)) }))
    await paid.wait(id)
    const bearer = { bearer: seller.agent.apiKey }
    await done(client.post(`${path}/deliver`, { deliverable_url: 'https://hooks.example/x' }, bearer))
    await done(client.patch(path, { action: 'approve', ...(await proof(`orders.approve:${id}`)) }))
  }

  return {
    market,
    apiPid,
    live,
    counts: (network: PaidNetwork) => ({
      api: forApi[network].map((proxy) => proxy.counts()),
      workers: forWorkers[network].map((proxy) => proxy.counts()),
    }),
    startWorker: () =>
      market.startWorker({
        ...receiver.settings,
        ...urlsOf(forWorkers),
        PAYOUT_DAY_CAP_USDC: '1000000',
        BASE_GAS_BUDGET_GWEI: '1000000000000',
        SOLANA_GAS_BUDGET: '1000000000000',
      }),
    stop: async () => {
      paid.stop()
      await market.stop()
      await receiver.stop()
      await Promise.all(
        [forApi, forWorkers].flatMap((all) => Object.values(all).flat()).map((one) => one.stop()),
      )
    },
  }
}

/** All at once would run into the timeouts of a busy machine. */
async function someAtOnce<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < count) {
    const next = Array.from({ length: Math.min(10, count - made.length) }, (_, n) => make(made.length + n))
    made.push(...(await Promise.all(next)))
  }
  return made
}

const proxiesOf = async (environment: Readonly<Record<string, string>>): Promise<Proxies> => {
  const of = (url = '') => Promise.all(Array.from({ length: PROVIDERS }, () => startCountingProxy(url)))
  return {
    'base-mainnet': await of(environment['BASE_RPC_URLS']),
    'solana-mainnet': await of(environment['SOLANA_RPC_URLS']),
  }
}

const urlsOf = (proxies: Proxies) => ({
  BASE_RPC_URLS: proxies['base-mainnet'].map(({ url }) => url).join(),
  SOLANA_RPC_URLS: proxies['solana-mainnet'].map(({ url }) => url).join(),
})

const done = async (call: Call): Promise<{ readonly id: string }> => {
  const { status, body } = await call
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body.data ?? { id: '' }
}

/** One statement for all orders that wait, so that buyers who look cost the database nothing. */
function waitUntilPaid(db: Awaited<ReturnType<typeof startMarket>>['db']) {
  const waiting = new Map<string, { resolve(): void; reject(error: unknown): void }>()
  const look = async () => {
    if (waiting.size === 0) return
    const { rows } = await sql<{ id: string; status: string }>`
      select id, status from orders where id = any(${[...waiting.keys()]}) and status not in ('quoted', 'accepted')`.execute(
      db,
    )
    for (const { id, status } of rows) {
      if (status === 'cancelled') waiting.get(id)?.reject(new Error(`${id} was cancelled`))
      else waiting.get(id)?.resolve()
      waiting.delete(id)
    }
  }
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look).catch((error: unknown) => {
      for (const { reject } of waiting.values()) reject(error)
    })
  }, LOOK_EVERY_MS)
  return {
    wait: (id: string) =>
      new Promise<void>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
      }),
    stop: () => clearInterval(timer),
  }
}
