import type { Wallet } from '@market/core/ports/signatures'
import { findAgentById, payableNetworks, payoutAddress, payoutNetworks } from '@market/identity/agents'
import { DAY, earlier } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { NETWORKS } from '@market/kernel/network'
import { makeListing } from '@market/testing/make-listing'
import { makeEvmWallet, makeListedAgent, makeSolanaWallet } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listPayable } from './payable-services.ts'
import { withOpen } from './test-networks.ts'

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
})
afterAll(() => stop())

/** Of every third agent a change takes effect at this moment, and of every third one millisecond later. */
function pendingColumns(n: number, solana: string, evm: string) {
  if (n % 3 === 0) return {}
  return {
    pending_payout_wallet: n % 2 === 0 ? solana : null,
    pending_payout_address_base: n % 4 < 2 ? evm : null,
    // Different from every stored value.
    pending_payout_chain: 'base',
    pending_payout_since: earlier(ctx.clock.now(), DAY - (n % 3) + 1),
    pending_payout_by: 'owner',
  }
}

/** An EVM wallet with each kind of evidence, and a Solana wallet. */
const ownersOfEveryKind = async (): Promise<[Wallet, string | null][]> => [
  ...['key', 'base-mainnet', 'alt-mainnet', null].map((by): [Wallet, string | null] => [makeEvmWallet(), by]),
  [await makeSolanaWallet(), 'key'],
]

/** Every agent there can be, as far as its addresses go: each chosen or not, each kind of owner, its own wallet or none. */
async function makeAll() {
  const solana = (await makeSolanaWallet()).key
  const evm = makeEvmWallet().key
  const ids: AgentId[] = []
  for (const payout_wallet of [null, solana])
    for (const payout_address_base of [null, evm])
      for (const [owner, owner_proven_by] of await ownersOfEveryKind())
        for (const keeps of [true, false]) {
          const { agent } = await makeListedAgent(ctx, { owner: { kind: 'wallet', wallet: owner } })
          const columns = { payout_wallet, payout_address_base, owner_proven_by }
          await ctx.db.transaction().execute(async (tx) => {
            // A trigger keeps how an owner wallet was proven.
            await sql`set local session_replication_role = 'replica'`.execute(tx)
            await tx
              .updateTable('agents')
              .set({ ...columns, ...pendingColumns(ids.length, solana, evm) })
              .where('id', '=', agent.id)
              .execute()
          })
          if (!keeps) await ctx.db.deleteFrom('agent_wallets').where('agent_id', '=', agent.id).execute()
          await makeListing(ctx, agent.id)
          ids.push(agent.id)
        }
  return ids
}

test('payoutNetworks and listPayable agree with payableNetworks and payoutAddress for every agent', async () => {
  const ids = await makeAll()
  const said = await payoutNetworks(ctx, ids)
  const seen = new Set<string>()
  for (const id of ids) {
    const agent = await findAgentById(ctx.db, id)
    const networks = await payableNetworks(ctx, ctx.db, agent)
    expect(said.get(id)).toEqual(networks)
    for (const network of NETWORKS)
      expect((await payoutAddress(ctx, ctx.db, agent, network)) !== null).toBe(networks.includes(network))
    seen.add(networks.toSorted().join())
  }
  // Every set of networks but the empty one: an agent with an owner wallet has an address somewhere.
  expect(seen.size).toBe(7)
  for (const network of NETWORKS) {
    const { found } = await listPayable(withOpen(ctx, network), { limit: 100 })
    const listed = new Set(found.map(({ listing }) => listing.agentId))
    expect(listed).toEqual(new Set(ids.filter((id) => said.get(id)?.includes(network))))
  }
})
