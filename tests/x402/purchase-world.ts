import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import { type EvmNetwork, startEvmNetwork } from '@market/testing/evm-network'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { type Reply, someAddress } from '../support/client.ts'
import { asHeaders, makeOwnedAgent, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeService } from '../support/services.ts'
import { setPayout } from '../support/set-payout.ts'
import { type Buyer, evmBuyer, solanaBuyer } from './buyers.ts'

export const BRIEF = 'Read the branch called blue.'
export const PRICE = 10_000_000n
/** The price plus the fee. */
export const DUE = 11_000_000n

const ALT = { chainId: 42_161, usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' } as const
const SOLANA_CAIP2 = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const SOL = 1_000_000_000n

/** A network with a treasury and a gas account; the keys are for tests with a worker. */
interface Keys {
  readonly treasury: string
  readonly treasuryKey: string
  readonly gas: string
  readonly gasKey: string
}

async function openEvm(settings: { chainId: number; usdc?: Address }, float: bigint) {
  const chain = await startEvmNetwork(settings)
  const [treasuryKey, gasKey] = [generatePrivateKey(), generatePrivateKey()]
  const [treasury, gas] = [privateKeyToAddress(treasuryKey), privateKeyToAddress(gasKey)]
  await Promise.all([chain.fund(treasury), chain.fund(gas)])
  if (float > 0n) await chain.mint(treasury, float)
  return { chain, treasury, gas, treasuryKey: treasuryKey.slice(2), gasKey: gasKey.slice(2) }
}

async function openSolana(float: bigint) {
  const chain = await startSolanaWorld({ slotTimeMs: 40 })
  const open = async () => {
    const seed = randomBytes(32)
    const { address } = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
    await chain.chain.fundSol(address, 100n * SOL)
    return { address, key: seed.toString('hex') }
  }
  const [treasury, gas] = [await open(), await open()]
  await chain.usdc.fund(treasury.address, float)
  return { chain, treasury: treasury.address, gas: gas.address, treasuryKey: treasury.key, gasKey: gas.key }
}

const accountsOf = (name: string, { treasury, gas }: Keys) => ({
  [`${name}_TREASURY`]: treasury,
  [`${name}_GAS_ACCOUNT`]: gas,
})

/** One network from the view of a buyer. */
export interface Place {
  readonly network: Network
  readonly caip2: string
  readonly usdc: string
  readonly treasury: string
  newBuyer(): Promise<Buyer>
  balanceOf(owner: string): Promise<bigint>
}

const evmPlace = (network: Network, { chain, treasury }: { chain: EvmNetwork; treasury: Address }) => ({
  network,
  caip2: `eip155:${chain.chainId}`,
  usdc: chain.usdc,
  treasury,
  newBuyer: () => evmBuyer(chain, network, treasury),
  balanceOf: (owner: string) => chain.balanceOf(owner as Address),
})

const solanaPlace = ({ chain, treasury }: { chain: SolanaWorld; treasury: string }) => ({
  network: 'solana-mainnet' as const,
  caip2: SOLANA_CAIP2,
  usdc: chain.usdc.mint,
  treasury,
  newBuyer: () => solanaBuyer(chain, SOLANA_CAIP2, treasury),
  balanceOf: (owner: string) => chain.usdc.balanceOf(owner),
})

export type PurchaseWorld = Awaited<ReturnType<typeof startPurchaseWorld>>

const SEEN_WITHIN_MS = 12_000
const ASK_EVERY_MS = 400

/** Repeats the request while its transaction is not on the chain yet, as its response asks for. */
async function untilSeen(send: () => Promise<Reply>): Promise<Reply> {
  const deadline = performance.now() + SEEN_WITHIN_MS
  for (;;) {
    const reply = await send()
    const isWaiting = reply.status === 402 && reply.body.error === 'transaction_not_found_yet'
    if (!isWaiting || performance.now() > deadline) return reply
    await wait(ASK_EVERY_MS)
  }
}

/** The API in this process on three real chains, each with a treasury and a gas account. */
export async function startPurchaseWorld({
  settings = {},
  float = 0n,
}: {
  readonly settings?: Readonly<Record<string, string>>
  /** Initial balance of each treasury. */
  readonly float?: bigint
} = {}) {
  const [base, alt, solana] = await Promise.all([
    openEvm({ chainId: 8453 }, float),
    openEvm(ALT, float),
    openSolana(float),
  ])
  /** Settings that the API and a worker share. */
  const chains = {
    ONE_PROVIDER: 'on',
    BASE_RPC_URLS: base.chain.url,
    BASE_CONFIRMATIONS: '0:1',
    ALT_RPC_URLS: alt.chain.url,
    ALT_CHAIN_ID: String(ALT.chainId),
    ALT_USDC: ALT.usdc,
    ALT_CONFIRMATIONS: '0:1',
    SOLANA_RPC_URLS: solana.chain.chain.url,
    SOLANA_GENESIS_HASH: solana.chain.chain.genesisHash,
    ...accountsOf('BASE', base),
    ...accountsOf('ALT', alt),
    ...accountsOf('SOLANA', solana),
  }
  const market = await startMarket({
    ...chains,
    BASE_GAS_KEY: base.gasKey,
    ALT_GAS_KEY: alt.gasKey,
    SOLANA_GAS_KEY: solana.gasKey,
    ...settings,
  })
  const places = {
    'base-mainnet': evmPlace('base-mainnet', base),
    'alt-mainnet': evmPlace('alt-mainnet', alt),
    'solana-mainnet': solanaPlace(solana),
  } as const satisfies Readonly<Record<Network, Place>>
  const client = () => market.client()
  const payPath = (serviceId: string) => `/api/x402/pay?service_id=${serviceId}`

  return {
    market,
    base,
    alt,
    solana,
    chains,
    places,
    client,
    payPath,
    newSeller: (fields: Record<string, unknown> = {}, agent: Record<string, unknown> = {}) =>
      makeSeller(market, solana.chain, fields, agent),
    /** Sends the hash of a transfer in `X-PAYMENT`. */
    buyWithTransfer: (
      serviceId: string,
      buyer: Pick<Buyer, 'network'>,
      reference: string,
      { brief = BRIEF, headers = {} }: { brief?: string; headers?: Record<string, string> } = {},
    ): Promise<Reply> =>
      untilSeen(() =>
        client().post(
          payPath(serviceId),
          { brief },
          { headers: { 'x-payment': reference, 'x-payment-network': buyer.network, ...headers } },
        ),
      ),
    /** Sends a signed payment. */
    buyWithSignature: (serviceId: string, payment: string, brief = BRIEF): Promise<Reply> =>
      client().post(payPath(serviceId), { brief }, { headers: { 'payment-signature': payment } }),
    /** The payment header that an unmodified client would send with its next request. */
    signPayment: async (serviceId: string, { stock }: Pick<Buyer, 'stock'>): Promise<string> => {
      const quote = await client().post(payPath(serviceId), { brief: BRIEF })
      const required = decodePaymentRequiredHeader(quote.headers.get('payment-required') ?? '')
      return encodePaymentSignatureHeader(await stock.createPaymentPayload(required))
    },
    /** Headers with the payer's signature for this payment and purchase. */
    payerHeaders: async (buyer: Pick<Buyer, 'address' | 'sign'>, purpose: string) =>
      asHeaders(await signed(buyer, purpose)),
    ordersOf: (reference: string) =>
      market.db.selectFrom('orders').selectAll().where('payment_reference', '=', reference).execute(),
    stop: async () => {
      await market.stop()
      await Promise.all([base.chain.stop(), alt.chain.stop(), solana.chain.stop()])
    },
  }
}

/** An agent with payout addresses on all three networks: its owner's wallet on two, a configured one on the third. */
async function makeSeller(
  market: Market,
  solana: SolanaWorld,
  fields: Record<string, unknown>,
  agent: Record<string, unknown>,
) {
  const made = await makeOwnedAgent(market, agent)
  const { address: solanaPayee } = await solana.wallet()
  await setPayout(market, made, 'payout_wallet', solanaPayee)
  const service = await makeService(market, made, { price_usd: '10.00', ...fields })
  const payees = {
    'base-mainnet': made.owner.address,
    'alt-mainnet': made.owner.address,
    'solana-mainnet': solanaPayee,
  } as const satisfies Readonly<Record<Network, string>>
  return { ...made, serviceId: service.id, payees }
}

/** Options of `fetch` to post this body from a new client address. */
export const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', 'x-forwarded-for': someAddress(), ...headers },
})

/** Decodes a header of base64 JSON. */
export const decoded = (headers: Headers, name: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(headers.get(name) ?? 'e30=', 'base64').toString('utf8')) as Record<string, unknown>
