import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import { startEvmNetwork } from '@market/testing/evm-network'
import { createKeyPairSignerFromPrivateKeyBytes, getBase58Decoder, signBytes } from '@solana/kit'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { startSolanaWorld } from '../chains/solana-support.ts'
import type { Reply } from '../support/client.ts'
import { asHeaders, makeOwnedAgent, signed } from '../support/makers.ts'
import { PUBLIC_ADDRESS, runBundled, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { BRIEF } from '../support/orders.ts'
import { startWorker } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import { setPayout } from '../support/set-payout.ts'
import { sharedKeys } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

const ALT = { chainId: 42_161, usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' } as const
const SOL = 1_000_000_000n
const BLOCK_MS = 100
/** With nothing beside what was just paid, a payout waits half a minute for the one before it to settle. */
const FLOAT = 1_000_000_000n
const RICH = 100_000_000n
const LONG_WAIT = { withinMs: 60_000, everyMs: 100 }

export const PRICE = 25_000_000n

/** A wallet that can sign a call and pay into the treasury. */
interface Wallet {
  readonly address: string
  sign(message: string): Promise<string>
  pay(micros: bigint): Promise<string>
}

interface Place {
  readonly treasury: string
  newWallet(): Promise<Wallet>
  balanceOf(owner: string): Promise<bigint>
  stop(): Promise<void>
}

/** An EVM chain that makes a block every tenth of a second, final after eight more. */
async function startEvm(settings: { chainId: number; usdc?: Address }) {
  const chain = await startEvmNetwork(settings)
  const key = generatePrivateKey()
  const treasury = privateKeyToAddress(key)
  await chain.fund(treasury)
  await chain.mint(treasury, FLOAT)
  await chain.automine(false)
  const end = new AbortController()
  const mining = (async () => {
    while (!end.signal.aborted) {
      await chain.mine(1)
      await wait(BLOCK_MS)
    }
  })()
  // The issuer counts its own transactions: asked for two at once it would number both alike.
  let minted: Promise<unknown> = Promise.resolve()
  const place: Place = {
    treasury,
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
    stop: async () => {
      end.abort()
      await mining
      await chain.stop()
    },
  }
  return { ...place, url: chain.url, key: key.slice(2) }
}

async function startSolana() {
  const world = await startSolanaWorld({ slotTimeMs: 40 })
  const seed = randomBytes(32)
  const { address: treasury } = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
  await world.chain.fundSol(treasury, 100n * SOL)
  await world.usdc.fund(treasury, FLOAT)
  const place: Place = {
    treasury,
    newWallet: async () => {
      const wallet = await world.wallet(RICH)
      const open = await world.openAccount(wallet, treasury)
      return {
        address: wallet.address,
        sign: async (message) =>
          getBase58Decoder().decode(
            await signBytes(wallet.keyPair.privateKey, new TextEncoder().encode(message)),
          ),
        pay: async (micros) => world.run(wallet, [open, await world.transfer(wallet, treasury, micros)]),
      }
    },
    balanceOf: (owner) => world.usdc.balanceOf(owner),
    stop: () => world.stop(),
  }
  return { ...place, url: world.chain.url, genesisHash: world.chain.genesisHash, key: seed.toString('hex') }
}

export type JourneyWorld = Awaited<ReturnType<typeof startJourneys>>

/** The api and a worker, both started from the bundle, three real chains and an endpoint that records its requests. */
export async function startJourneys() {
  const [base, alt, solana, receiver] = await Promise.all([
    startEvm({ chainId: 8453 }),
    startEvm(ALT),
    startSolana(),
    startReceiver(),
  ])
  const places: Readonly<Record<Network, Place>> = {
    'base-mainnet': base,
    'alt-mainnet': alt,
    'solana-mainnet': solana,
  }
  const chains = {
    ONE_PROVIDER: 'on',
    BASE_RPC_URLS: base.url,
    ALT_RPC_URLS: alt.url,
    ALT_CHAIN_ID: String(ALT.chainId),
    ALT_USDC: ALT.usdc,
    SOLANA_RPC_URLS: solana.url,
    SOLANA_GENESIS_HASH: solana.genesisHash,
  }
  const treasuries = {
    BASE_TREASURY: base.treasury,
    ALT_TREASURY: alt.treasury,
    SOLANA_TREASURY: solana.treasury,
  }
  const market = await startMarket({ ...chains, ...treasuries }, runBundled)
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, receiver.ca)
  const { DATABASE_URL = '' } = market.environment as Record<string, string>
  const worker = await startWorker({
    ...chains,
    DATABASE_URL,
    ...sharedKeys(market.environment),
    DNS_SERVERS: market.environment.DNS_SERVERS,
    CLOCK_FILE: market.environment.CLOCK_FILE,
    OUTBOUND_REROUTE: `${PUBLIC_ADDRESS}=127.0.0.1:${receiver.port}`,
    OUTBOUND_CA_FILE: caFile,
    BASE_TREASURY_KEY: base.key,
    ALT_TREASURY_KEY: alt.key,
    SOLANA_TREASURY_KEY: solana.key,
  })

  return {
    market,
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
      await worker.stop()
      await market.stop()
      await Promise.all([base.stop(), alt.stop(), solana.stop(), receiver.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const done = (reply: Reply): Reply => {
  if (reply.status >= 300) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply
}

interface Parts {
  readonly market: Awaited<ReturnType<typeof startMarket>>
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
