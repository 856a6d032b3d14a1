import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import { solanaWalletSigner } from '@market/chains/solana/wallet/solana-wallet-signer'
import { tokenListener } from '@market/custody/tokens'
import { advanceWalletTransaction, startWithdrawDelays } from '@market/custody/wallets'
import { DAY } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { secretExporter } from '@market/platform/vault/secret-exporter'
import { testKeys } from '@market/testing/keys'
import { type SolanaSigner, solanaSigner } from '@market/testing/solana-signer'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { sql } from 'kysely'
import type { Reply } from './client.ts'
import { asHeaders, makeOwnedAgent, type Signer, signed } from './makers.ts'
import { type Market, startMarket } from './market.ts'
import { BASE_URL, sharedKeys, WALLET_SEAL } from './settings.ts'
import { until } from './until.ts'

export const NO_AGENT = `agt_1700000000000_${'0'.repeat(17)}`
/** An address of nobody that can receive SOL and USDC. */
export const PAYEE = 'EkcPgr78EbLRc3AvHhxx2ADZ9P3VDJ3BgP26UuZDsvAN'
export const SOL = 1_000_000_000n
const CAPS = { SOL: 10n * SOL, USDC: 2_500_000_000n }
const POLL_MS = 20

/** Like `makeOwnedAgent`, with an owner wallet on Solana unless another one is given. */
export async function makeWalletAgent<S extends Signer = SolanaSigner>(
  market: Market,
  fields: Record<string, unknown> = {},
  owner?: S,
) {
  const signer = owner ?? (await solanaSigner())
  const agent = await makeOwnedAgent(market, fields, signer as never)
  return { ...agent, owner: signer as S }
}

/** The address of the agent's server wallet. */
export async function walletOf({ db }: Pick<Market, 'db'>, agentId: string): Promise<string> {
  const { address } = await db
    .selectFrom('agent_wallets')
    .select('address')
    .where('agent_id', '=', agentId)
    .where('chain', '=', 'solana')
    .executeTakeFirstOrThrow()
  return address
}

/** The X account that the identity provider would verify. */
export async function linkX({ db }: Pick<Market, 'db'>, agentId: string): Promise<void> {
  await db.updateTable('agents').set({ twitter_username: 'market' }).where('id', '=', agentId).execute()
}

/** A withdraw address that is in effect, since it was set two days ago. The owner wallet signs for it, where there is one. */
export async function insertWithdrawAddress(
  market: Market,
  agent: { readonly id: string; readonly owner?: Signer },
  address = PAYEE,
): Promise<void> {
  const [setAt, effectiveAt] = [2 * DAY, DAY].map((ago) => new Date(market.wallTime() - ago))
  const purpose = `wallets.withdraw-address:${agent.id}:${address}`
  const proof = agent.owner && (await signed(agent.owner, purpose, setAt?.getTime()))
  await market.db.transaction().execute(async (tx) => {
    // Without the trigger, which sets the time.
    await sql`set local session_replication_role = 'replica'`.execute(tx)
    const id = `wad_1700000000000_0${randomBytes(8).toString('hex')}`
    await tx
      .insertInto('withdraw_delays')
      .values({ address_id: id, notified_at: setAt ?? null })
      .execute()
    await tx
      .insertInto('withdraw_addresses')
      .values({
        ...{ id, agent_id: agent.id, address },
        ...{ set_by: 'wallet:owner', created_at: setAt, effective_at: effectiveAt, stored_at: setAt },
        owner_signature: proof?.wallet_sig ?? null,
        owner_signed_at_ms: proof === undefined ? null : BigInt(proof.wallet_sig_ts),
      } as never)
      .execute()
  })
}

/** Waits until the worker has notified the owner of the newest withdraw address, which starts its 24 hours. */
export const untilNotified = ({ db }: Pick<Market, 'db'>, agentId: string): Promise<void> =>
  until('the 24 hours of the withdraw address have started', async () => {
    const waiting = await db
      .selectFrom('withdraw_delays')
      .innerJoin('withdraw_addresses', 'withdraw_addresses.id', 'withdraw_delays.address_id')
      .select('id')
      .where('agent_id', '=', agentId)
      .where('notified_at', 'is', null)
      .execute()
    return waiting.length === 0
  })

/** Headers of the owner wallet's signature. */
export const signedBy = async (owner: Signer, purpose: string) => ({
  headers: asHeaders(await signed(owner, purpose)),
})

/** The token of an agent, as its owner would register it. */
export async function insertToken(
  market: Market,
  agentId: string,
  fields: { readonly mint?: string; readonly name?: string } = {},
) {
  const token = { mint: (await solanaSigner()).address, name: 'A Token', ...fields }
  await market.db
    .insertInto('agent_tokens')
    .values({
      ...{ agent_id: agentId, ...token, symbol: 'TOK', mode: 'pumpfun' },
      ...{ creator_wallet: PAYEE, created_at: new Date(market.now()) },
    })
    .execute()
  return token
}

interface OperationColumns {
  readonly kind: 'launch' | 'identity' | 'withdraw'
  readonly createdAt?: number
}

/** An operation of the agent's wallet that was requested, and that no worker carries out. */
export async function insertOperation(
  market: Market,
  agentId: string,
  { kind, createdAt = market.now() }: OperationColumns,
): Promise<string> {
  const id = `wop_1700000000000_0${randomBytes(8).toString('hex')}`
  const at = new Date(createdAt)
  const token = { token_name: 'A Token', token_symbol: 'TOK', token_uri: `${BASE_URL}/token` }
  await market.db
    .insertInto('wallet_transactions')
    .values({
      ...{ id, agent_id: agentId, wallet: await walletOf(market, agentId), kind, status: 'requested' },
      ...{ requested_by: `agent:${agentId}`, created_at: at, updated_at: at, due_at: at },
      ...(kind === 'withdraw' ? { asset: 'SOL', destination: PAYEE, amount: '1' } : token),
      ...(kind === 'launch' && {
        token_description: 'A token that a test describes.',
        token_image_url: 'https://hooks.example/token.png',
      }),
    })
    .execute()
  return id
}

/** A token of the Token program with 9 decimals, in the wallet of the agent. */
export async function fundToken(market: SolanaMarket, agentId: string, amount: bigint): Promise<string> {
  const { chain, issuer } = market.chains['solana-mainnet'].chain
  const { address: mint } = await solanaSigner()
  const token = await installSolanaUsdc(chain, issuer, { mint, decimals: 9 })
  await token.fund(await walletOf(market, agentId), amount)
  return mint
}

/** What the worker is to an operation, in the process of the test: it checks, signs, sends and ends it. */
function signerContext(market: SolanaMarket) {
  const both = sharedKeys(market.environment) as ReturnType<typeof testKeys>['both']
  const keys = testKeys({ ...WALLET_SEAL, both })
  const clock = { now: () => new Date(market.now()), wallTime: () => new Date() }
  return {
    db: market.db,
    clock,
    ids: idSource(clock),
    vault: keys.vault,
    seeds: keys.seeds,
    exporter: secretExporter,
    baseUrl: BASE_URL,
    walletSigner: solanaWalletSigner(market.chains['solana-mainnet'].chain.settings),
    walletCaps: CAPS,
    operationListener: tokenListener,
    signatures: walletSignatures({ domain: new URL(BASE_URL).host, uri: BASE_URL, evmRpcUrls: [] }),
  }
}

type SolanaMarket = Awaited<ReturnType<typeof startSolanaMarket>>
const startSolanaMarket = (overrides: Readonly<Record<string, string>>) =>
  startMarket(overrides, { chains: ['solana-mainnet'] })

/** A market with Solana, whose wallet operations are carried out unless they are paused. */
export async function startWalletMarket(overrides: Readonly<Record<string, string>> = {}) {
  const market = await startSolanaMarket(overrides)
  const ctx = signerContext(market)
  const end = new AbortController()
  let isPaused = false
  const advance = async () => {
    const active = isPaused ? [] : await findActive(market)
    await Promise.all(active.map((id) => advanceWalletTransaction(ctx, id)))
    await startWithdrawDelays(ctx)
  }
  let round = advance()
  const running = (async () => {
    while (!end.signal.aborted) {
      await round
      await wait(POLL_MS)
      round = advance()
    }
    await round
  })()
  const { chain, usdc } = market.chains['solana-mainnet'].chain
  return {
    ...market,
    /** Sends SOL and USDC to the agent's wallet. */
    fund: async (agentId: string, { sol = SOL, micros = 0n } = {}) => {
      const address = await walletOf(market, agentId)
      await chain.fundSol(address, sol)
      if (micros > 0n) await usdc.fund(address, micros)
      return address
    },
    whilePaused: async <T>(work: () => Promise<T>): Promise<T> => {
      isPaused = true
      try {
        // A round that began before would still find what is added now.
        await round
        return await work()
      } finally {
        isPaused = false
      }
    },
    stop: async () => {
      end.abort()
      await running
      await market.stop()
    },
  }
}

/** Repeats a request as its response 202 asks for, until it has the result. */
export async function untilEnded(send: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await send()
    if (reply.status !== 202) return reply
    await wait(POLL_MS)
  }
}

export type WalletMarket = Awaited<ReturnType<typeof startWalletMarket>>

async function findActive({ db }: Pick<Market, 'db'>): Promise<`wop_${string}`[]> {
  const rows = await db
    .selectFrom('wallet_transactions')
    .select('id')
    .where('status', 'in', ['requested', 'signed'])
    .execute()
  return rows.map(({ id }) => id as `wop_${string}`)
}
