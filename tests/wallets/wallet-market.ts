import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import { solanaWalletSigner } from '@market/chains/solana/wallet/solana-wallet-signer'
import type { WalletSigner } from '@market/core/ports/agent-wallets'
import { tokenListener } from '@market/custody/tokens'
import type { SignerContext } from '@market/custody/wallets'
import { walletSealPrivateKeys } from '@market/platform/settings/vault'
import { secretExporter } from '@market/platform/vault/secret-exporter'
import { seedOpener } from '@market/platform/vault/seed-seal'
import { evmSigner } from '@market/testing/evm-signer'
import { marketContext } from '@market/testing/market-context'
import { type SolanaSigner, solanaSigner } from '@market/testing/solana-signer'
import { DESCRIPTION, makeOwnedAgent, type Signer, signed, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { BASE_URL, WALLET_SEAL } from '../support/settings.ts'

export const SOL = 1_000_000_000n
export const SYMBOL = 'PAINT'

type StartOptions = Parameters<typeof startMarket>[1]

/** A marketplace on a real Solana node. Base is for owners that are smart wallets. */
export async function startWalletMarket(
  settings: Readonly<Record<string, string>> = {},
  options: Pick<NonNullable<StartOptions>, 'run'> = {},
) {
  const market = await startMarket(settings, { chains: ['solana-mainnet', 'base-mainnet'], ...options })
  const { 'solana-mainnet': solana, 'base-mainnet': base } = market.chains
  return { market, solana: solana.chain, base: base.chain }
}

export type WalletMarket = Awaited<ReturnType<typeof startWalletMarket>>

export interface WalletAgent {
  readonly id: string
  readonly apiKey: string
  readonly wallet: string
  readonly owner: Signer
}

/** An agent that can launch a token, with an owner wallet and SOL in its server wallet. */
export async function makeWalletAgent(
  { market, solana }: WalletMarket,
  { lamports = SOL, usdc = 0n, owner = evmSigner() as Signer } = {},
): Promise<WalletAgent> {
  const agent = await makeOwnedAgent(
    market as unknown as Market,
    { name: someName(), description: DESCRIPTION, avatar_url: 'https://images.example/painter.png' },
    owner as never,
  )
  await market.db
    .updateTable('agents')
    .set({ twitter_username: 'painter' })
    .where('id', '=', agent.id)
    .execute()
  const { address } = await market.db
    .selectFrom('agent_wallets')
    .select('address')
    .where('agent_id', '=', agent.id)
    .executeTakeFirstOrThrow()
  if (lamports > 0n) await solana.chain.fundSol(address, lamports)
  if (usdc > 0n) await solana.usdc.fund(address, usdc)
  return { id: agent.id, apiKey: agent.apiKey, wallet: address, owner }
}

/** Calls of an agent and its owner. */
export function callsOf({ market }: WalletMarket, { id, apiKey, owner }: WalletAgent) {
  const api = market.client()
  const bearer = { bearer: apiKey }
  return {
    funding: () => api.get(`/api/agents/${id}/funding`, bearer),
    operations: () => api.get(`/api/agents/${id}/wallet/operations?limit=100`, bearer),
    launch: (symbol = SYMBOL) => api.post(`/api/agents/${id}/token/launch`, { symbol }, bearer),
    said: (key?: string) =>
      api.post(`/api/agents/${id}/said`, {}, { ...bearer, ...(key !== undefined && { key }) }),
    withdraw: (body: object) => api.post('/api/agents/me/withdraw', body, bearer),
    send: async (body: { asset: string; to: string; amount?: number | string }) =>
      api.post(`/api/agents/${id}/wallet/send`, {
        chain: 'solana',
        ...body,
        ...(await signed(owner, `wallets.send:${id}:${body.asset}:${body.to}:${body.amount ?? ''}`)),
      }),
    setAddress: async (address: string) =>
      api.put(`/api/agents/${id}/withdraw-address`, {
        address,
        ...(await signed(owner, `wallets.withdraw-address:${id}:${address}`)),
      }),
    exportTo: async (publicKey: string) =>
      api.post(`/api/agents/${id}/export-key`, {
        public_key: publicKey,
        ...(await signed(owner, `wallets.export:${id}:${publicKey}`)),
      }),
  }
}

export const newAddress = async (): Promise<string> => ((await solanaSigner()) as SolanaSigner).address

export const lamportsOf = async ({ solana }: WalletMarket, address: string): Promise<bigint> => {
  const { value } = (await solana.chain.call('getBalance', address, { commitment: 'confirmed' })) as {
    readonly value: number
  }
  return BigInt(value)
}

/** The signatures of all transactions that the address signed or took part in. */
export const transactionsOf = async (
  { solana }: WalletMarket,
  address: string,
): Promise<readonly { readonly signature: string; readonly err: unknown }[]> =>
  (await solana.chain.call('getSignaturesForAddress', address, { limit: 1000 })) as never

/** What a worker of this market uses to carry out operations, in the process of the test. */
export function signerContext({
  market,
  solana,
  base,
}: WalletMarket): SignerContext & { walletSigner: WalletSigner } {
  return {
    ...marketContext({ db: market.db }),
    clock: { now: () => new Date(market.now()), wallTime: () => new Date(market.wallTime()) },
    signatures: walletSignatures({ domain: new URL(BASE_URL).host, uri: BASE_URL, evmRpcUrls: [base.url] }),
    walletSigner: solanaWalletSigner(solana.settings),
    seeds: seedOpener(walletSealPrivateKeys.parse(WALLET_SEAL.worker.WALLET_SEAL_PRIVATE_KEYS)),
    exporter: secretExporter,
    baseUrl: BASE_URL,
    walletCaps: { SOL: 10n * SOL, USDC: 2_500_000_000n },
    operationListener: tokenListener,
  }
}
