import { randomBytes } from 'node:crypto'
import { solanaChain } from '@market/chains/solana/solana-chain'
import type { Chain } from '@market/core/ports/chain'
import { readAgentWallets, takeReserveSnapshot } from '@market/reserves/snapshots'
import { marketContext } from '@market/testing/market-context'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { type Address, getAddressDecoder } from '@solana/kit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { byMethod, type CountingProxy, startCountingProxy } from '../load/counting-proxy.ts'
import { fillWithAgents } from '../load/many-agents.ts'
import { follow } from '../support/follow.ts'

/** More than one run reads. The gauntlet has 250,000. */
const WALLETS = Number(process.env['AGENT_WALLETS'] ?? 12_050)
const RUN = 10_000
const PAGE = 1_000
/** The most accounts that a node returns at once. */
const CALL = 100
const FUNDED = 5
const NETWORK = 'solana-mainnet'

const callsFor = (wallets: number) => Math.ceil(wallets / CALL)

let world: SolanaWorld
let proxy: CountingProxy
beforeAll(async () => {
  world = await startSolanaWorld()
  await world.usdc.fund(world.treasury.address, 0n)
  proxy = await startCountingProxy(world.chain.url)
})
afterAll(async () => {
  await proxy.stop()
  await world.stop()
})

let database: TestDatabase
beforeEach(async () => {
  database = await testDatabase()
  return database.stop
})

/** Agents with server wallets, of which a few in different pages hold 1.00, 2.00 and so on. */
async function fill(): Promise<void> {
  await fillWithAgents(database.url, WALLETS)
  const decoder = getAddressDecoder()
  const addresses = Array.from({ length: WALLETS }, (): Address => decoder.decode(randomBytes(32)))
  for (let first = 0; first < WALLETS; first += RUN)
    await sql`
      insert into agent_wallets (agent_id, chain, address, secret_sealed, created_at)
      select agents.id, 'solana', wallet.address, set_byte(decode(repeat('00', 89), 'hex'), 0, 2), now()
      from unnest(${addresses.slice(first, first + RUN)}::text[]) with ordinality as wallet (address, n)
      join agents on agents.id = 'agt_' || (1700000000000 + ${first}::bigint + n) || '_0' || lpad((${first}::bigint + n)::text, 16, '0')`.execute(
      database.db,
    )
  for (let n = 0; n < FUNDED; n++)
    await world.usdc.fund(
      addresses[Math.floor(((WALLETS - 1) * n) / (FUNDED - 1))] ?? '',
      BigInt(n + 1) * 1_000_000n,
    )
}

/** As a worker that just started: it knows only what is in the database. */
const startedWorker = () => ({
  ...marketContext({ db: database.db }),
  chains: { [NETWORK]: solanaChain({ ...world.settings, rpcUrls: [proxy.url] }) },
})

const callsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const calls = () => byMethod(proxy.counts()).find(([method]) => method === 'getMultipleAccounts')?.[1] ?? 0
  const before = calls()
  await work()
  return calls() - before
}

/** Reads one run with a node that does this before each page. */
const readWith = (beforePage: (page: number) => unknown) =>
  callsOf(async () => {
    const worker = startedWorker()
    const chain: Chain = worker.chains[NETWORK]
    let page = 0
    const finalBalancesOf: Chain['finalBalancesOf'] = async (addresses) => {
      await beforePage(page++)
      return (await chain.finalBalancesOf?.(addresses)) ?? []
    }
    await readAgentWallets({ ...worker, chains: { [NETWORK]: { ...chain, finalBalancesOf } } }, NETWORK)
  })
const read = () => readWith(() => {})

test(`agent wallets: ${WALLETS} are read with one call for 100 wallets and 100 calls in a run, also when a worker ends in the middle`, {
  timeout: 300_000 + 20 * WALLETS,
}, async () => {
  await fill()
  const ends = readWith((page) => {
    if (page === 1) throw new Error('the worker ends here')
  })
  await expect(ends).rejects.toThrow('the worker ends here')

  // While one worker reads the second page, another one reads that page and nine more.
  let ofTheOther = 0
  const ofTheSlow = await readWith(async () => {
    ofTheOther += await read()
  })
  expect({ ofTheOther, all: ofTheSlow }).toEqual({ ofTheOther: callsFor(RUN), all: callsFor(RUN + PAGE) })

  for (let left = WALLETS - PAGE - RUN; left >= 0; left -= RUN)
    expect(await read()).toBe(callsFor(Math.min(left, RUN)))
  expect(await read()).toBe(0)

  const worker = startedWorker()
  await follow(worker, NETWORK)
  expect(await takeReserveSnapshot(worker, NETWORK, { withProof: true })).toMatchObject({
    day: worker.clock.now().toISOString().slice(0, 10),
    wallets: { count: FUNDED, total: 15_000_000n },
  })
})
