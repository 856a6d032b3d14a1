import { randomBytes } from 'node:crypto'
import { NETWORKS, type Network } from '@market/kernel/network'
import { type Operations, verifyReceipt } from '@market/sdk'
import type { TestDatabase } from '@market/testing/postgres'
import { getBase58Decoder, signBytes } from '@solana/kit'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { Reply, RequestOptions } from '../support/client.ts'
import { asHeaders, makeOwnedAgent, signed } from '../support/makers.ts'
import { type Market, runBundled, startMarket } from '../support/market.ts'
import type { MarketChains } from '../support/market-chains.ts'
import { operatorToken } from '../support/operator.ts'
import { BRIEF } from '../support/orders.ts'
import type { StartFrom } from '../support/processes.ts'
import { keysOf } from '../support/receipts.ts'
import { makeService } from '../support/services.ts'
import { setPayout } from '../support/set-payout.ts'
import { BASE_URL, PUBLIC_ADDRESS } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

/** With nothing beside what was just paid, a payout waits half a minute for the one before it to settle. */
const FLOAT = 1_000_000_000n
const RICH = 100_000_000n
type Receipt = Operations['getReceipt']['data']['receipt']

const LONG_WAIT = { withinMs: 60_000, everyMs: 100 }

export const PRICE = 25_000_000n

/** A wallet that can sign a call and pay into the treasury. */
export interface Wallet {
  readonly address: string
  sign(message: string): Promise<string>
  pay(micros: bigint): Promise<string>
}

export interface Place {
  newWallet(): Promise<Wallet>
  balanceOf(owner: string): Promise<bigint>
}

type Chains = MarketChains<Network>

export function evmPlace({ chain, treasury }: Chains['base-mainnet']): Place {
  // The issuer counts its own transactions: asked for two at once it would number both alike.
  let minted: Promise<unknown> = Promise.resolve()
  return {
    newWallet: async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      await chain.fund(account.address)
      minted = minted.then(() => chain.mint(account.address, RICH))
      await minted
      await until(
        'the buyer is rich',
        async () => (await chain.balanceOf(account.address)) === RICH,
        LONG_WAIT,
      )
      return {
        address: account.address,
        sign: (message) => account.signMessage({ message }),
        pay: (micros) => chain.transfer(account, treasury, micros),
      }
    },
    balanceOf: (owner) => chain.balanceOf(owner as Address),
  }
}

export const solanaPlace = ({ chain, treasury }: Chains['solana-mainnet']): Place => ({
  newWallet: async () => {
    const wallet = await chain.wallet(RICH)
    const open = await chain.openAccount(wallet, treasury)
    return {
      address: wallet.address,
      sign: async (message) =>
        getBase58Decoder().decode(
          await signBytes(wallet.keyPair.privateKey, new TextEncoder().encode(message)),
        ),
      pay: async (micros) => chain.run(wallet, [open, await chain.transfer(wallet, treasury, micros)]),
    }
  },
  balanceOf: (owner) => chain.usdc.balanceOf(owner),
})

export type JourneyWorld = Awaited<ReturnType<typeof startJourneys>>

interface JourneyOptions {
  /** All unless given. */
  readonly networks?: readonly Network[]
  readonly run?: (environment: Readonly<Record<string, string>>) => ReturnType<typeof runBundled>
  /** A bundle of another version, for both programs. */
  readonly from?: StartFrom
  readonly database?: TestDatabase
  /** More settings of the worker, asked for after the api runs. */
  readonly workerSettings?: () => Readonly<Record<string, string>>
}

const placeOf = (chains: Chains, network: Network): Place =>
  network === 'solana-mainnet' ? solanaPlace(chains[network]) : evmPlace(chains[network])

/** The api and a worker, both started from the bundle, real chains and an endpoint that records its requests. */
export async function startJourneys({
  networks = NETWORKS,
  from,
  run = (environment) => runBundled(environment, from && { from }),
  workerSettings = () => ({}),
  database,
}: JourneyOptions = {}) {
  const receiver = await startReceiver()
  const market = await startMarket(
    {},
    {
      ...{ chains: networks, float: FLOAT, mines: true, run },
      ...(database && { database }),
    },
  )
  const worker = await market.startWorker({ ...receiver.settings, ...workerSettings() }, from && { from })
  const places = Object.fromEntries(
    networks.map((network) => [network, placeOf(market.chains, network)]),
  ) as Readonly<Record<Network, Place>>

  return {
    market,
    worker,
    receiver,
    places,
    begin: (network: Network, service: Record<string, unknown> = {}) =>
      begin({ market, place: places[network], receiver, network }, service),
    resolve: async (orderId: string, verdict: Record<string, unknown>) =>
      done(
        await market
          .client()
          .post(
            `/api/admin/orders/${orderId}/resolve`,
            { note: 'Both were heard.', ...verdict },
            { bearer: await operatorToken(market) },
          ),
      ),
    stop: async () => {
      await market.stop()
      await receiver.stop()
    },
  }
}

const done = (reply: Reply): Reply => {
  if (reply.status >= 300) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply
}

interface Parts {
  readonly market: Market
  readonly place: Place
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>
  readonly network: Network
}

/** A buyer and a seller who have not met before, and their order. */
async function begin({ market, place, receiver, network }: Parts, fields: Record<string, unknown>) {
  const host = `s${randomBytes(6).toString('hex')}.hooks.example`
  market.dns.answers.set(host, [PUBLIC_ADDRESS])
  const seller = await makeOwnedAgent(market, { endpoint_url: `https://${host}/in` })
  const buyer = await place.newWallet()
  // An owner with an EVM wallet says where it wants to be paid on Solana.
  const payee = network === 'solana-mainnet' ? (await place.newWallet()).address : seller.owner.address
  const bearer = { bearer: seller.apiKey }
  if (network === 'solana-mainnet') await setPayout(market, seller, 'payout_wallet', payee)
  const service = await makeService(market, seller, { price_usd: '25.00', ...fields })
  const proof = (purpose: string) => signed(buyer, purpose)
  const ordered = done(
    await market.client().post('/api/orders', {
      service_id: service.id,
      brief: BRIEF,
      ...(await proof(`orders.create:${service.id}`)),
    }),
  )
  const id = ordered.body.data.id as string
  const path = `/api/orders/${id}`
  const before = await place.balanceOf(payee)

  const byBuyer = async (action: string, more: Record<string, unknown> = {}) =>
    done(await market.client().patch(path, { action, ...more, ...(await proof(`orders.${action}:${id}`)) }))
  const read = async () =>
    (await market.client().get(path, { headers: asHeaders(await proof('session')) })).body.data
  const reached = (status: string) =>
    until(`${id} is ${status}`, async () => (await read()).order.status === status, LONG_WAIT)
  return {
    id,
    buyer,
    seller,
    firstState: ordered.body.data.status as string,
    read,
    reached,
    byBuyer,
    bySeller: async (action: string) => done(await market.client().patch(path, { action }, bearer)),
    quote: async (price_usd: string) =>
      done(await market.client().post(`${path}/quote`, { price_usd }, bearer)),
    deliver: async () =>
      done(
        await market.client().post(`${path}/deliver`, { deliverable_url: 'https://hooks.example/x' }, bearer),
      ),
    /** A real transfer, named at once; the worker counts it when it is settled. */
    pay: async (micros = PRICE) => {
      const escrow_tx_hash = await buyer.pay(micros)
      await byBuyer('pay', { escrow_tx_hash, payment_network: network })
      await reached('paid')
    },
    /** Until the agent has got exactly this on the chain. */
    earned: (micros: bigint) =>
      until(
        `the agent of ${id} has got ${micros}`,
        async () => (await place.balanceOf(payee)) - before === micros,
        LONG_WAIT,
      ),
    /** Until the buyer has all but this of what they began with. */
    spent: (micros: bigint) =>
      until(
        `the buyer of ${id} has spent ${micros}`,
        async () => RICH - (await place.balanceOf(buyer.address)) === micros,
        LONG_WAIT,
      ),
    /** Until the refund can no longer be undone. */
    refunded: () =>
      until(`${id} is refunded`, async () => (await read()).refund?.status === 'sent', LONG_WAIT),
    /** Until nothing of it changes any more: the receipts of both parties, verified with the published keys. */
    receipts: async () => {
      const { keys } = await keysOf(market)
      const get = async (ask: RequestOptions) => {
        const { data } = done(await market.client().get(`${path}/receipt`, ask)).body
        expect(await verifyReceipt(data.jws, { keys, issuer: BASE_URL })).toEqual(data.receipt)
        return data.receipt as Receipt
      }
      const ofBuyer = async () => get({ headers: asHeaders(await proof('session')) })
      await until(`the receipt of ${id} is final`, async () => (await ofBuyer()).final, LONG_WAIT)
      return { ofBuyer: await ofBuyer(), ofAgent: await get(bearer) }
    },
    /** Until the agent's balance is this: pending, in escrow and paid out. */
    balanced: (...usd: readonly [pending: string, inEscrow: string, paidOut: string]) =>
      until(
        `the balance of the agent of ${id} is ${usd.join()}`,
        async () => {
          const { data } = (await market.client().get('/api/agents/me/balance', bearer)).body
          return [data.pending_usd, data.in_escrow_usd, data.paid_out_usd].join() === usd.join()
        },
        LONG_WAIT,
      ),
    /** Until the agent's endpoint was told these, in this order. */
    told: async (...events: string[]) => {
      // A busy machine may respond too late to the first attempt; the second has the same delivery id.
      const calls = () =>
        [...Map.groupBy(receiver.callsTo(host), ({ deliveryId }) => deliveryId).values()].map(
          ([call]) => call,
        )
      await until(`${id}: ${events.join()}`, () => calls().length >= events.length, LONG_WAIT)
      return {
        heard: calls().map((call) => String(call?.headers['x-market-event'])),
        bodies: calls().map((call) => JSON.parse(String(call?.rawBody))),
      }
    },
  }
}
