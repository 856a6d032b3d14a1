import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { connect } from '@market/database/connect'
import type { Db } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { escrow, maintainLedgerPartitions, post, world } from '@market/money/ledger'
import { claimTransfer, parsePurpose } from '@market/money/payments'
import type { Payout } from '@market/money/payouts'
import { clockFromFile } from '@market/platform/settings/clock-file'
import { newKeySettings } from '@market/platform/vault/new-keys'
import type { EvmNetwork } from '@market/testing/evm-network'
import { marketContext } from '@market/testing/market-context'
import { TIMEOUT_FACTOR, testDatabase } from '@market/testing/postgres'
import {
  asAdmin,
  databaseUrl,
  dropTestDatabase,
  newTestDatabaseName,
} from '@market/testing/template-database'
import { generateKeyPairSigner } from '@solana/kit'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { keepMining, type MarketChains, startChains } from './market-chains.ts'
import { type OwedOrder, requestOwed } from './owed-order.ts'
import { seededRandom } from './payout-random.ts'
import { startFaultyRelay } from './payout-relay.ts'
import { startWorker } from './processes.ts'

const run = promisify(execFile)

export type PayoutWorld = Awaited<ReturnType<typeof startPayoutWorld>>

/** The initial treasury balance of each network. */
const FLOAT = usdc(1_000_000_000_000n)

/** The ledger account of the initial balance. */
export const floatOf = (network: Network) => escrow(network, `order:float-${network}`)

/** The transfer of the initial balance, which the treasury watcher will also see. */
const arrivalOf = async (chain: EvmNetwork, hash: string): Promise<IncomingTransfer> => {
  const receipt = (await chain.rpc('eth_getTransactionReceipt', [hash])) as Record<string, string>
  const block = { height: BigInt(receipt['blockNumber'] ?? 0), hash: receipt['blockHash'] ?? '' }
  return {
    reference: hash,
    index: 0,
    amount: FLOAT,
    payer: null,
    at: new Date(),
    block,
    final: false,
    attachedData: null,
  }
}

const newAddress = async (): Promise<string> => privateKeyToAddress(generatePrivateKey())

/** The treasury gets its initial balance, then a block is made every tenth of a second. */
const openEvm = async ({ chain, treasury }: MarketChains<Network>['base-mainnet']) => {
  const float = await arrivalOf(chain, await chain.mint(treasury, FLOAT))
  await chain.automine(false)
  const stopMining = keepMining(chain)
  return {
    chain,
    url: chain.url,
    treasury: treasury as string,
    float,
    newPayee: newAddress,
    newBuyer: newAddress,
    balanceOf: (owner: string) => chain.balanceOf(owner as Address),
    stopMining,
  }
}

const openSolana = ({ chain, treasury }: MarketChains<Network>['solana-mainnet']) => ({
  url: chain.chain.url,
  treasury,
  // Set without a transaction.
  float: undefined,
  newPayee: async () => (await generateKeyPairSigner()).address as string,
  /** Has paid before, so has a token account: none is opened for a refund. */
  newBuyer: async () => {
    const { address } = await generateKeyPairSigner()
    await chain.usdc.fund(address, 0n)
    return address as string
  },
  balanceOf: (owner: string) => chain.usdc.balanceOf(owner),
})

interface Database {
  readonly db: Db
  readonly url: string
  stop(): Promise<void>
}

const emptyDatabase = async (): Promise<Database> => {
  const name = newTestDatabaseName()
  await asAdmin((client) => client.query(`create database ${name}`))
  const url = databaseUrl(name)
  const db = connect({ url, timeoutFactor: TIMEOUT_FACTOR })
  return {
    db,
    url,
    stop: async () => {
      await db.destroy()
      dropTestDatabase(name)
    },
  }
}

/** The ledger in one database, and its workers. */
export type WorldLedger = ReturnType<typeof openLedger>

const openLedger = <Settings extends Readonly<Record<'CLOCK_FILE', string>>>(
  { db, url, stop }: Database,
  settings: Settings,
) => {
  const clock = { ...clockFromFile(settings.CLOCK_FILE), advance: () => {}, set: () => {} }
  const actor = { kind: 'admin_key', name: 'a test' } as const
  const ctx = marketContext({ db, clock, actor })
  const environment = { ...settings, DATABASE_URL: url }
  return {
    db,
    ctx,
    url,
    environment,
    stop,
    /** The payout or refund of an order of its own, from money that the marketplace holds. */
    request: (owed: OwedOrder): Promise<Payout> =>
      ctx.transact((tx) => requestOwed(ctx, tx, owed, floatOf(owed.network))),
    worker: (overrides: Readonly<Record<string, string>> = {}) =>
      startWorker({ ...environment, ...overrides }),
  }
}

/** Three real chains behind relays that can fail, a database whose ledger holds what the treasuries hold, and workers. */
export async function startPayoutWorld(seed: number, given?: Database) {
  const random = seededRandom(seed)
  const started = await startChains(NETWORKS, {})
  const [base, alt] = await Promise.all([
    openEvm(started.chains['base-mainnet']),
    openEvm(started.chains['alt-mainnet']),
  ])
  const solana = openSolana(started.chains['solana-mainnet'])
  await started.chains['solana-mainnet'].chain.usdc.fund(solana.treasury, FLOAT)
  const chains = { 'base-mainnet': base, 'alt-mainnet': alt, 'solana-mainnet': solana }
  const relaysTo = (url: string) =>
    Promise.all([startFaultyRelay(url, random), startFaultyRelay(url, random)])
  const relays = {
    'base-mainnet': await relaysTo(base.url),
    'alt-mainnet': await relaysTo(alt.url),
    'solana-mainnet': await relaysTo(solana.url),
  }
  const allRelays = Object.values(relays).flat()
  const urlsOf = (some: readonly { readonly url: string }[]) => some.map(({ url }) => url).join()

  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  let aheadMs = 0
  const settings = {
    CLOCK_FILE: clockFile,
    SWEEP_INTERVAL_MS: '500',
    DATABASE_POOL: '6',
    ...newKeySettings().both,
    RPC_TIMEOUT_MS: '400',
    PAYOUT_DAY_CAP_USDC: '1000000',
    PAYOUT_PAYEE_DAY_CAP_USDC: '1000000',
    SOLANA_ACCOUNT_MINIMUM_USDC: '0',
    SOLANA_GAS_BUDGET: '100000000000',
    BASE_GAS_BUDGET_GWEI: '100000000000',
    ALT_GAS_BUDGET_GWEI: '100000000000',
    ...started.settings,
    ...started.workerSettings,
    SOLANA_RPC_URLS: urlsOf(relays['solana-mainnet']),
    BASE_RPC_URLS: urlsOf(relays['base-mainnet']),
    ALT_RPC_URLS: urlsOf(relays['alt-mainnet']),
  }
  const ledger = openLedger(given ?? (await testDatabase()), settings)
  const { ctx } = ledger
  await maintainLedgerPartitions(ctx)
  for (const network of NETWORKS) {
    const { float } = chains[network]
    const moves = [{ from: world(network), to: floatOf(network), amount: FLOAT }]
    const journal = { key: `float:${network}`, reason: 'float', subject: 'float', network, moves }
    await ctx.transact(async (tx) => {
      if (float === undefined) await post(ctx, tx, journal)
      else
        await claimTransfer(ctx, tx, {
          network,
          seen: float,
          purpose: parsePurpose(floatOf(network).subject),
          due: FLOAT,
        })
    })
  }
  const restored: WorldLedger[] = []
  return {
    ...ledger,
    ledger,
    random,
    chains,
    treasuryKeys: Object.values(started.workerSettings),
    relays: allRelays,
    relaysOf: (network: Network) => relays[network],
    /** Blocks requests that match; undefined forwards everything again. */
    holdBack: (what: RegExp | undefined, networks: readonly Network[] = NETWORKS) => {
      for (const relay of networks.flatMap((network) => relays[network])) relay.held = what
    },
    /** Moves the clock of the workers and of the test; chains keep real time. */
    advanceClock: (ms: number) => {
      aheadMs += ms
      writeFileSync(clockFile, String(aheadMs))
    },
    /** Backs up the database. Each call of the result restores it into a new database. */
    async backup(): Promise<() => Promise<WorldLedger>> {
      const file = join(folder, `${randomBytes(6).toString('hex')}.dump`)
      await run('pg_dump', ['--format=custom', '--no-owner', `--file=${file}`, ledger.url])
      return async () => {
        const database = await emptyDatabase()
        await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${database.url}`, file])
        const again = openLedger(database, settings)
        restored.push(again)
        return again
      }
    },
    stop: async () => {
      await Promise.all(allRelays.map((relay) => relay.stop()))
      await Promise.all([base.stopMining(), alt.stopMining()])
      await started.stop()
      for (const { stop } of [ledger, ...restored]) await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
