import { evmChain } from '@market/chains/evm/evm-chain'
import type { FinalBlock } from '@market/core/ports/chain'
import { HOUR } from '@market/kernel/clock'
import { decideFinality, readNewBlocks } from '@market/money/follower'
import { takeReserveSnapshot } from '@market/reserves/snapshots'
import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount, settingsFor } from '../chains/evm-world.ts'
import { type NodeRelay, relayTo } from '../chains/node-relay.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
const other = await fundedPayer(network)
const cold = newAccount().address
afterAll(() => network.stop())

let relay: NodeRelay
let treasury: Treasury
beforeEach(async () => {
  const database = await testDatabase()
  relay = await relayTo(network.url)
  treasury = await openTreasury(database.db, network, relay.url, { cold })
  return async () => {
    await relay.stop()
    await database.stop()
  }
})

test('a network with a new treasury goes on', async () => {
  await treasury.payIn(payer, 1_000n, { purpose: 'order:float', due: 1_000n })
  const next = newAccount().address
  const ctx = {
    ...treasury.ctx,
    chains: { [NETWORK]: evmChain(settingsFor(network, next, { rpcUrls: [relay.url] })) },
  }
  const reference = await network.transfer(payer, next, 7n)
  await network.mine(FINALITY)
  const unexplained: bigint[] = []
  for (let n = 0; n < 3; n++) {
    await decideFinality(ctx, NETWORK, (one) => void unexplained.push(one.unexplained))
    await network.mine(1)
  }
  const rows = await ctx.db
    .selectFrom('transfers')
    .select('state')
    .where('reference', '=', reference)
    .execute()
  expect({ unexplained, rows }).toEqual({ unexplained: [], rows: [{ state: 'final' }] })
})

test('a treasury whose address is written in another case is the same one', async () => {
  await readNewBlocks(treasury.ctx, NETWORK)
  await treasury.payIn(payer, 1_000n, { purpose: 'order:float', due: 1_000n })
  const progress = () => treasury.ctx.db.selectFrom('followed_networks').selectAll().executeTakeFirstOrThrow()
  const before = await progress()
  expect([before.position, before.treasury_micros]).toEqual([expect.any(String), 1_000n])
  const lower = evmChain({ ...treasury.settings, treasury: treasury.settings.treasury.toLowerCase() })
  await decideFinality({ ...treasury.ctx, chains: { [NETWORK]: lower } }, NETWORK)
  expect(await progress()).toMatchObject({ position: before.position, treasury: before.treasury })
})

test('no snapshot is taken of what was read hours ago', async () => {
  await treasury.payIn(payer, 1_000n, { purpose: 'order:float', due: 1_000n })
  await treasury.takeSnapshot()
  relay.mood = { kind: 'reset' }
  await network.transfer(treasury.account, other.address, 400n)
  await network.mine(FINALITY)
  treasury.clock.advance(5 * HOUR)
  const taken = await takeReserveSnapshot(treasury.ctx, NETWORK, { withProof: true }).catch(() => undefined)
  expect(taken && { final: taken.final, short: taken.short, takenAt: taken.takenAt }).toBeUndefined()
})

test('a move to the cold address in one part of a backlog is no shortfall', async () => {
  await treasury.payIn(payer, 1_000n, { purpose: 'order:float', due: 1_000n })
  await treasury.takeSnapshot()
  const { chain, ctx } = treasury
  // The payment to the cold address is in the first part; reading the second one fails.
  await network.transfer(treasury.account, cold, 300n)
  await network.mine(FINALITY + 10)
  const parts = evmChain({ ...treasury.settings, watchBlocks: 3 })
  const heldNow = () =>
    ctx.db
      .selectFrom('followed_networks')
      .select(['treasury_micros', 'cold_micros', 'moved_micros'])
      .executeTakeFirstOrThrow()
  const interrupted = {
    ...chain,
    finalMovementsAfter: async (after: FinalBlock) => {
      if ((await heldNow()).moved_micros !== 0n) throw new Error('away')
      return parts.finalMovementsAfter(after)
    },
  }
  const withParts = { ...ctx, chains: { [NETWORK]: interrupted } }
  await expect(decideFinality(withParts, NETWORK)).rejects.toThrow('away')
  expect(await heldNow()).toMatchObject({ treasury_micros: 1_000n, cold_micros: 0n, moved_micros: -300n })
  const snapshot = await takeReserveSnapshot(withParts, NETWORK, { withProof: false })
  expect(snapshot?.short).toBe(0n)
})
