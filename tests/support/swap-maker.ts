import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { assert } from '@market/kernel/assert'
import { CLIENTS_CLOSE } from '@market/testing/idle-connections'
import type { Base64EncodedWireTransaction, Instruction, KeyPairSigner } from '@solana/kit'
import type { SolanaWorld } from '../chains/solana-support.ts'
import type { Market } from './market.ts'
import { SOL } from './price-source.ts'
import { buildSwap, type SwapParts, swapInstructions } from './swap-transactions.ts'

/** The price of the test's price source, and of an honest maker. */
const PRICE_USD = 150n

/** What the maker gives for this much USDC. */
export const honestOut = (amount: bigint): bigint => (amount * 1_000n) / PRICE_USD

type Parts = Awaited<ReturnType<typeof swapInstructions>>

/** How the maker deviates from an honest one. Each test sets its own. */
export interface MakerBehavior {
  /** What it quotes. */
  readonly quote?: (amount: bigint) => bigint
  /** What it puts into the transaction. */
  readonly fill?: (parts: SwapParts) => SwapParts
  readonly instructions?: (parts: Parts, maker: KeyPairSigner) => Promise<readonly Instruction[]>
  readonly paysFee?: boolean
  /** Changes the finished transaction. */
  readonly finish?: (transaction: string, maker: KeyPairSigner) => string
  /** Changes the response to an order. */
  readonly respond?: (order: Record<string, unknown>) => unknown
  /** Responds instead of the maker. */
  readonly onOrder?: RequestListener
  /** Responds instead of the maker, which sends the transaction to the chain when `send` is called. */
  readonly onExecute?: (send: () => Promise<string>, response: ServerResponse) => Promise<void>
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** A venue on this machine whose only maker has a wallet on the test's chain. It has the shapes of Jupiter's Ultra API. */
export async function startSwapMaker() {
  let world: SolanaWorld | undefined
  let maker: KeyPairSigner | undefined
  let behavior: MakerBehavior = {}
  const executions: { requestId: string; signedTransaction: string }[] = []
  const keys: (string | undefined)[] = []

  const opened = () => {
    assert(world !== undefined && maker !== undefined, 'the maker has a chain')
    return { world, maker }
  }

  async function order({ searchParams: asked }: URL) {
    const { world: chain, maker: own } = opened()
    const amount = BigInt(asked.get('amount') ?? '')
    const outAmount = (behavior.quote ?? honestOut)(amount)
    const honest = {
      taker: asked.get('taker') ?? '',
      maker: own,
      mint: asked.get('inputMint') ?? '',
      amount,
      lamports: outAmount,
    }
    const parts = await swapInstructions(behavior.fill?.(honest) ?? honest)
    const { value: lifetime } = await chain.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const built = await buildSwap((await behavior.instructions?.(parts, own)) ?? Object.values(parts), {
      feePayer: behavior.paysFee === true ? own.address : honest.taker,
      lifetime,
    })
    const transaction = behavior.finish?.(built, own) ?? built
    const body = {
      requestId: randomUUID(),
      inAmount: String(amount),
      outAmount: String(outAmount),
      otherAmountThreshold: String(outAmount),
      slippageBps: Number(asked.get('slippageBps')),
      transaction,
    }
    return behavior.respond?.(body) ?? body
  }

  async function sendToChain(signedTransaction: string): Promise<string> {
    const { rpc, settled } = opened().world
    const signature = await rpc
      .sendTransaction(signedTransaction as Base64EncodedWireTransaction, {
        encoding: 'base64',
        skipPreflight: true,
      })
      .send()
    await settled(signature, 'confirmed')
    return signature
  }

  async function execute(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const submitted = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
      requestId: string
      signedTransaction: string
    }
    executions.push(submitted)
    const send = () => sendToChain(submitted.signedTransaction)
    if (behavior.onExecute !== undefined) return behavior.onExecute(send, response)
    json(response, { status: 'Success', signature: await send() })
  }

  const server = createServer(CLIENTS_CLOSE, async (request, response) => {
    try {
      const url = new URL(request.url ?? '', 'http://localhost')
      keys.push(request.headers['x-api-key'] as string | undefined)
      if (url.pathname === '/ultra/execute' && request.method === 'POST')
        return await execute(request, response)
      if (url.pathname !== '/ultra/order' || request.method !== 'GET') return json(response, {}, 404)
      if (behavior.onOrder !== undefined) return behavior.onOrder(request, response)
      return json(response, await order(url))
    } catch (error) {
      return json(response, { error: String(error) }, 500)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/ultra`,
    /** What was submitted, in order. */
    executions,
    /** The API key of each request. */
    keys,
    /** The maker's wallet, with SOL to sell. */
    wallet: () => opened().maker,
    async open(market: Market, chain: SolanaWorld): Promise<void> {
      world = chain
      maker = await chain.wallet(1n)
      await chain.chain.fundSol(maker.address, 1_000_000_000_000n)
      market.prices.respondWith((_, response) => json(response, { [SOL]: { usd: Number(PRICE_USD) } }))
    },
    behave(changed: MakerBehavior = {}): void {
      behavior = changed
    },
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
