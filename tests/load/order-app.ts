import type { Operation } from '@market/contract/define'
import { operations } from '@market/contract/operations'
import { type Db, transact } from '@market/database/transact'
import type { Credentials } from '@market/handlers/call'
import { type Execute, executor } from '@market/handlers/execute'
import { usdc } from '@market/kernel/money'
import type { Listing } from '@market/offers/listings'
import { type EvmSigner, evmSigner } from '@market/testing/evm-signer'
import { makeListing } from '@market/testing/make-listing'
import { makeListedAgent } from '@market/testing/makers'
import { newLimiter, testAppServices } from '../support/app-services.ts'
import { signed } from '../support/makers.ts'
import { PreparedChain } from './prepared-chain.ts'

const PRICE = usdc(25_000_000n)
const SIGNED_AGO_MS = 60_000

/** An agent that sells, and another that buys from it with a wallet of its own. */
export interface Pair {
  readonly listing: Listing
  readonly sellerKey: string
  readonly buyerKey: string
  readonly wallet: EvmSigner
}

/**
 * The api's app without its HTTP: executor, limits in Redis, API keys, a wallet's signature, one transaction for each
 * write. `over` gives the same application on another connection, such as one that listens.
 */
export function openAppServices(db: Db, redisUrl?: string) {
  const chain = new PreparedChain()
  const limiter = newLimiter(redisUrl)
  const app = testAppServices(db, {
    limiter,
    chains: { [chain.network]: chain },
    facilitators: {},
    onFault: (error) => {
      throw error
    },
  })
  const ctx = {
    ...app,
    transact: <T>(work: Parameters<typeof transact<T>>[1]) => transact(db, work),
    actor: { kind: 'anonymous' } as const,
    requestId: 'req_bench',
  }

  async function makePair(): Promise<Pair> {
    const seller = await makeListedAgent(ctx)
    const buyer = await makeListedAgent(ctx)
    const listing = await makeListing(ctx, seller.agent.id, { price: PRICE })
    return {
      listing,
      sellerKey: seller.apiKey,
      buyerKey: buyer.apiKey,
      wallet: evmSigner(),
    }
  }

  return {
    ready: () => limiter.ready(),
    makePairs: async (count: number): Promise<Pair[]> => {
      const pairs: Pair[] = []
      while (pairs.length < count) pairs.push(await makePair())
      return pairs
    },
    /** A whole order of a pair: created, paid by a transfer that is there already, delivered, approved. */
    live: (pair: Pair, over: Db = db) => live(executor({ ...app, db: over }), chain, pair),
    /** Reads the seller's own agent, as `GET /api/agents/me` does. */
    readMe: (pair: Pair, over: Db = db) =>
      executor({ ...app, db: over })({
        operation: operations.getMyAgent,
        input: {},
        credentials: { bearer: pair.sellerKey },
        address: 'reader',
        requestId: 'req_bench',
      }),
    stop: () => limiter.stop(),
  }
}

let calls = 0

async function live(execute: Execute, chain: PreparedChain, pair: Pair): Promise<string> {
  const { listing, sellerKey, buyerKey, wallet } = pair
  // Each life comes from an address of its own, as buyers do; limits are counted all the same.
  const address = `life-${calls++}`
  const call = async (operation: Operation, credentials: Credentials, input: Record<string, unknown>) => {
    const answer = await execute({ operation, input, credentials, address, requestId: 'req_bench' })
    if (answer.status >= 300) throw new Error(`${operation.id}: ${JSON.stringify(answer.body)}`)
    return (answer.body as { data: { id: string; status: string } }).data
  }
  const reference = chain.prepare(wallet.address.toLowerCase(), PRICE)
  const { id } = await call(
    operations.createOrder,
    { bearer: buyerKey, wallet: await signatureOf(wallet, `orders.create:${listing.id}`) },
    { service_id: listing.id, brief: 'Review the branch from yesterday, please.' },
  )
  const act = (action: string, more: Record<string, unknown> = {}) =>
    call(operations.actOnOrder, { bearer: buyerKey }, { order_id: id, action, ...more })
  await act('pay', { escrow_tx_hash: reference, payment_network: chain.network })
  const deliverables = [{ type: 'text', content: 'Blue.' }]
  await call(operations.deliverOrder, { bearer: sellerKey }, { order_id: id, deliverables })
  const { status } = await act('approve')
  if (status !== 'completed') throw new Error(`${id} ended as ${status}`)
  return id
}

let lastSignedAt = 0

async function signatureOf(
  signer: Pair['wallet'],
  purpose: string,
): Promise<NonNullable<Credentials['wallet']>> {
  // Each signature counts once, so no two have the same time.
  lastSignedAt = Math.max(lastSignedAt + 1, Date.now() - SIGNED_AGO_MS)
  const { wallet, wallet_sig, wallet_sig_ts } = await signed(signer, purpose, lastSignedAt)
  return { wallet, signature: wallet_sig, signedAtMs: wallet_sig_ts, chain: undefined }
}
