import type { KeyPairSigner } from '@solana/kit'
import type { SolanaWorld } from '../chains/solana-support.ts'
import type { Reply, RequestOptions } from './client.ts'
import { makeUser } from './makers.ts'
import { startMarket } from './market.ts'
import { startSwapMaker } from './swap-maker.ts'
import { signSwap } from './swap-transactions.ts'

export const AMOUNT = 5_000_000n
const USDC_OF_TAKER = 1_000_000_000n

export interface Taker {
  readonly wallet: KeyPairSigner
  readonly bearer: string
  readonly userId: string
}

export type SwapMarket = Awaited<ReturnType<typeof startSwapMarket>>

/** A market on a real chain with a venue, whose SOL has the same price as the market's price source. */
export async function startSwapMarket(overrides: Readonly<Record<string, string>> = {}) {
  const maker = await startSwapMaker()
  const market = await startMarket(
    { SWAP_URL: maker.url, SWAP_API_KEY: 'venue-key-1', ...overrides },
    { chains: ['solana-mainnet'] },
  )
  const world: SolanaWorld = market.chains['solana-mainnet'].chain
  await maker.open(market, world)

  const order = (
    { wallet, bearer }: Taker,
    fields: Record<string, unknown> = {},
    ask: RequestOptions = {},
  ): Promise<Reply> =>
    market
      .client()
      .post('/api/swap/order', { wallet: wallet.address, amount_usd: '5.00', ...fields }, { bearer, ...ask })
  const execute = (
    { bearer }: Pick<Taker, 'bearer'>,
    order_id: string,
    signed_transaction: string,
    ask: RequestOptions = {},
  ): Promise<Reply> =>
    market.client().post('/api/swap/execute', { order_id, signed_transaction }, { bearer, ...ask })

  return {
    market,
    maker,
    world,
    order,
    execute,
    /** A user whose linked wallet holds USDC and some SOL. */
    async makeTaker(): Promise<Taker> {
      const wallet = await world.wallet(USDC_OF_TAKER)
      const { token, sub } = await makeUser(market, { wallets: [wallet.address] })
      return { wallet, bearer: token, userId: sub }
    },
    /** An order with the transaction that its taker signed. */
    async orderAndSign(taker: Taker, fields: Record<string, unknown> = {}) {
      const { status, body } = await order(taker, fields)
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`)
      const { order_id, transaction } = body.data as { order_id: string; transaction: string }
      return { order_id, transaction, signed: await signSwap(transaction, taker.wallet) }
    },
    async balancesOf({ wallet }: Pick<Taker, 'wallet'>) {
      const { value } = await world.rpc.getBalance(wallet.address, { commitment: 'confirmed' }).send()
      return { lamports: BigInt(value), usdc: await world.usdc.balanceOf(wallet.address) }
    },
    async stop() {
      await market.stop()
      await maker.stop()
    },
  }
}
