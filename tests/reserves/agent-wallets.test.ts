import { solanaChain } from '@market/chains/solana/solana-chain'
import { findWalletAddress } from '@market/core/custody'
import type { Chain } from '@market/core/ports/chain'
import { unavailable } from '@market/kernel/api-error'
import { DAY, MINUTE, SECOND } from '@market/kernel/clock'
import {
  checkReserves,
  getSolvency,
  proveLiabilities,
  readAgentWallets,
  takeReserveSnapshot,
} from '@market/reserves/snapshots'
import { testClock } from '@market/testing/clock'
import { makeAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { follow } from '../support/follow.ts'

const NETWORK = 'solana-mainnet'
/** More than one request to a node. */
const AGENTS = 120

let world: SolanaWorld
beforeAll(async () => {
  world = await startSolanaWorld()
  await world.usdc.fund(world.treasury.address, 0n)
})
afterAll(() => world.stop())

let ctx: ReturnType<typeof marketContext> & { readonly chains: { readonly [NETWORK]: Chain } }
beforeEach(async () => {
  const database = await testDatabase()
  const chains = { [NETWORK]: solanaChain(world.settings) }
  ctx = { ...marketContext({ db: database.db, clock: testClock(new Date('2026-11-16T12:00:00Z')) }), chains }
  await follow(ctx, NETWORK)
  return database.stop
})

/** Registers an agent whose server wallet holds this much. */
async function agentWith(micros: bigint) {
  const { agent } = await makeAgent(ctx)
  const address = (await findWalletAddress(ctx.db, agent.id, 'solana')) ?? ''
  if (micros > 0n) await world.usdc.fund(address, micros)
  return { id: agent.id, address }
}

const proofsOf = (agentId: string, snapshotId?: string) =>
  proveLiabilities(ctx, { proven: [agentId], payees: [] }, { limit: 20, snapshotId })

test("agent wallets: the day's snapshot sums them, and each agent can prove its own", async () => {
  const agents: Awaited<ReturnType<typeof agentWith>>[] = []
  for (let n = 0; n < AGENTS; n++) agents.push(await agentWith(n % 40 === 7 ? BigInt(n) * 1_000_000n : 0n))
  await readAgentWallets(ctx, NETWORK)
  const day = await takeReserveSnapshot(ctx, NETWORK, { withProof: true })
  expect(day).toMatchObject({
    day: ctx.clock.now().toISOString().slice(0, 10),
    proof: { leaves: 0 },
    wallets: { count: 3, total: 141_000_000n, root: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
  expect(day?.wallets?.root).not.toBe(day?.proof?.root)
  expect(await getSolvency(ctx)).toMatchObject([{ ofDay: { id: day?.id, wallets: day?.wallets } }])

  const { proofs } = await proofsOf(agents[47]?.id ?? '', day?.id)
  expect(proofs).toMatchObject([
    {
      root: day?.wallets?.root,
      total: 141_000_000n,
      leaf: { account: `wallet:${NETWORK}:${agents[47]?.address}`, micros: 47_000_000n },
    },
  ])
  expect((await proofsOf(agents[8]?.id ?? '', day?.id)).proofs).toEqual([])

  ctx.clock.advance(10 * MINUTE)
  await follow(ctx, NETWORK)
  expect(await takeReserveSnapshot(ctx, NETWORK, { withProof: true })).toMatchObject({
    day: null,
    wallets: null,
  })
})

test('agent wallets: until they are read, proofs continue and the day has no snapshot; then it follows at once', async () => {
  await agentWith(5_000_000n)
  const chain = ctx.chains[NETWORK]
  const failing = {
    ...chain,
    finalBalancesOf: () => Promise.reject(unavailable('Solana cannot be reached. Try again later.')),
  }
  await expect(readAgentWallets({ ...ctx, chains: { [NETWORK]: failing } }, NETWORK)).rejects.toMatchObject({
    kind: 'unavailable',
  })
  const [report] = await checkReserves(ctx)
  expect(report).toMatchObject({ isNew: true })
  expect(report?.error).toBeUndefined()
  expect(await getSolvency(ctx)).toMatchObject([{ proven: { day: null, wallets: null }, ofDay: undefined }])

  await readAgentWallets(ctx, NETWORK)
  ctx.clock.advance(30 * SECOND)
  await follow(ctx, NETWORK)
  await checkReserves(ctx)
  expect(await getSolvency(ctx)).toMatchObject([{ ofDay: { wallets: { count: 1, total: 5_000_000n } } }])
})

test('agent wallets: the next day they are read again, and one that is empty then is no leaf', async () => {
  const [spent, kept] = [await agentWith(5_000_000n), await agentWith(1_000_000n)]
  await readAgentWallets(ctx, NETWORK)
  await world.usdc.fund(spent.address, 0n)
  await world.usdc.fund(kept.address, 3_000_000n)
  // Read once a day.
  await readAgentWallets(ctx, NETWORK)
  expect(await takeReserveSnapshot(ctx, NETWORK, { withProof: true })).toMatchObject({
    wallets: { count: 2, total: 6_000_000n },
  })

  ctx.clock.advance(DAY)
  await follow(ctx, NETWORK)
  expect(await takeReserveSnapshot(ctx, NETWORK, { withProof: true })).toMatchObject({ day: null })
  await readAgentWallets(ctx, NETWORK)
  expect(await takeReserveSnapshot(ctx, NETWORK, { withProof: true })).toMatchObject({
    day: ctx.clock.now().toISOString().slice(0, 10),
    wallets: { count: 1, total: 3_000_000n },
  })
})
