import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { escrow, keepLedgerMonths, post, world } from '@market/market/ledger'
import { type Payout, requestPayout } from '@market/market/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { startSurfpool } from '@market/testing/surfpool'
import { createKeyPairSignerFromPrivateKeyBytes, generateKeyPairSigner } from '@solana/kit'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { seededRandom } from './payout-random.ts'
import { startFaultyRelay } from './payout-relay.ts'
import { startWorker } from './worker-process.ts'

export type PayoutWorld = Awaited<ReturnType<typeof startPayoutWorld>>

const ALT = { chainId: 42_161, usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' } as const
const SOL = 1_000_000_000n
const BLOCK_MS = 100
const SLOT_MS = 40

/** What the treasury of each network holds at first. */
const FLOAT = usdc(1_000_000_000_000n)

/** An EVM chain that makes a block every tenth of a second, final after eight more. */
const startEvm = async (network: Network, settings: { chainId: number; usdc?: Address }) => {
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
  return {
    network,
    url: chain.url,
    key: key.slice(2),
    treasury,
    chain,
    newPayee: async () => privateKeyToAddress(generatePrivateKey()) as string,
    balanceOf: (owner: string) => chain.balanceOf(owner as Address),
    stop: async () => {
      end.abort()
      await mining
      await chain.stop()
    },
  }
}

const startSolana = async () => {
  const chain = await startSurfpool({ slotTimeMs: SLOT_MS })
  const seed = randomBytes(32)
  const treasury = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
  const token = await installSolanaUsdc(chain, await generateKeyPairSigner())
  await chain.fundSol(treasury.address, 100n * SOL)
  await token.fund(treasury.address, FLOAT)
  return {
    network: 'solana-mainnet' as Network,
    url: chain.url,
    genesisHash: chain.genesisHash,
    key: seed.toString('hex'),
    treasury: treasury.address as string,
    newPayee: async () => (await generateKeyPairSigner()).address as string,
    balanceOf: (owner: string) => token.balanceOf(owner),
    stop: () => chain.stop(),
  }
}

/** Three real chains behind relays that can fail, a database whose ledger holds what the treasuries hold, and workers. */
export async function startPayoutWorld(seed: number) {
  const random = seededRandom(seed)
  const database = await testDatabase()
  const { db } = database
  const [base, alt, solana] = await Promise.all([
    startEvm('base-mainnet', { chainId: 8453 }),
    startEvm('alt-mainnet', ALT),
    startSolana(),
  ])
  const chains = { 'base-mainnet': base, 'alt-mainnet': alt, 'solana-mainnet': solana }
  const relaysTo = (url: string) =>
    Promise.all([startFaultyRelay(url, random), startFaultyRelay(url, random)])
  const relays = {
    base: await relaysTo(base.url),
    alt: await relaysTo(alt.url),
    solana: await relaysTo(solana.url),
  }
  const allRelays = Object.values(relays).flat()
  const urlsOf = (some: readonly { readonly url: string }[]) => some.map(({ url }) => url).join()

  const clock = { ...systemClock, advance: () => {}, set: () => {} }
  const ctx = marketContext({ db, clock })
  await keepLedgerMonths(ctx)
  for (const network of NETWORKS) {
    const moves = [{ from: world(network), to: escrow(network, 'float'), amount: FLOAT }]
    const journal = { key: `float:${network}`, reason: 'float', subject: 'float', network, moves }
    await ctx.transact((tx) => post(ctx, tx, journal))
  }

  const cache = mkdtempSync(join(tmpdir(), 'market-'))
  const environment = {
    DATABASE_URL: database.url,
    DATABASE_POOL: '6',
    VAULT_KEYS: `k1:${randomBytes(32).toString('hex')}`,
    VAULT_PEPPER: randomBytes(32).toString('hex'),
    // A worker that is killed every other second must not spend its life on being compiled.
    NODE_COMPILE_CACHE: cache,
    RPC_TIMEOUT_MS: '400',
    PAYOUT_DAY_CAP_USDC: '1000000',
    SOLANA_RPC_URLS: urlsOf(relays.solana),
    SOLANA_GENESIS_HASH: solana.genesisHash,
    SOLANA_TREASURY_KEY: solana.key,
    BASE_RPC_URLS: urlsOf(relays.base),
    BASE_TREASURY_KEY: base.key,
    ALT_RPC_URLS: urlsOf(relays.alt),
    ALT_CHAIN_ID: String(ALT.chainId),
    ALT_USDC: ALT.usdc,
    ALT_TREASURY_KEY: alt.key,
  }
  return {
    random,
    db,
    ctx,
    chains,
    relays: allRelays,
    environment,
    /** A payout or refund that the marketplace owes, from money it holds. */
    request: (
      network: Network,
      wanted: { kind: Payout['kind']; subject: string; payee: string; amount: Usdc },
    ): Promise<Payout> =>
      ctx.transact((tx) => requestPayout(ctx, tx, { network, ...wanted, from: escrow(network, 'float') })),
    worker: (overrides: Readonly<Record<string, string>> = {}) =>
      startWorker({ ...environment, ...overrides }),
    stop: async () => {
      await Promise.all(allRelays.map((relay) => relay.stop()))
      await Promise.all([base.stop(), alt.stop(), solana.stop()])
      await database.stop()
      rmSync(cache, { recursive: true, force: true })
    },
  }
}
