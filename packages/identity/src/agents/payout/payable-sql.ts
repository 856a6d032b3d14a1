import type { Needs } from '@market/core/context'
import type { WalletChain } from '@market/core/ports/signatures'
import type { AgentId } from '@market/kernel/ids'
import { NETWORKS, type Network } from '@market/kernel/network'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { agentsPaidAt } from '../row.ts'
import { preferredFirst } from './payout-address.ts'

/**
 * The rule of `payoutAddressOf` in SQL, for lists. `seller` is a row of `agentsPaidAt`. The wallet is selected as a value,
 * because the planner might read all wallets for an `exists`.
 */
const IS_PAID_ON_SOLANA = sql<SqlBool>`(
  seller.payout_wallet is not null or seller.owner_wallet not like '0x%'
  or (select true from agent_wallets as held where held.agent_id = seller.id and held.chain = 'solana')
)`
const IS_PAID_ON_BASE = sql<SqlBool>`(
  seller.payout_address_base is not null or seller.owner_wallet like '0x%'
    and coalesce(seller.owner_proven_by, 'base-mainnet') in ('key', 'base-mainnet')
)`
const IS_PAID_ON_ALT = sql<SqlBool>`(
  seller.owner_wallet like '0x%' and seller.owner_proven_by in ('key', 'alt-mainnet')
)`

const IS_PAID_ON: Readonly<Record<Network, RawBuilder<SqlBool>>> = {
  'solana-mainnet': IS_PAID_ON_SOLANA,
  'base-mainnet': IS_PAID_ON_BASE,
  'alt-mainnet': IS_PAID_ON_ALT,
}

/**
 * Whether the agent of a listing can be paid on one of these networks. It is a value of each listing, because for a join
 * the planner might read the whole table.
 */
export function isPaidOnOneOf(networks: readonly Network[], now: Date): RawBuilder<SqlBool> {
  const rules = [...new Set(networks.map((network) => IS_PAID_ON[network]))]
  return sql<SqlBool>`(
    select ${sql.join(rules, sql` or `)} from ${agentsPaidAt(now)} as seller where seller.id = agent_id
  )`
}

type Row = { id: AgentId; payoutChain: WalletChain | null } & Record<Network, boolean | null>

/** The networks on which each of these agents can be paid. */
export async function payoutNetworks(
  { db, clock }: Needs<'db' | 'clock'>,
  agentIds: readonly AgentId[],
): Promise<ReadonlyMap<AgentId, readonly Network[]>> {
  const { rows } = await sql<Row>`
    select id, payout_chain as "payoutChain", ${IS_PAID_ON_SOLANA} as "solana-mainnet",
      ${IS_PAID_ON_BASE} as "base-mainnet", ${IS_PAID_ON_ALT} as "alt-mainnet"
    from ${agentsPaidAt(clock.now())} as seller where id = any(${[...new Set(agentIds)]}::text[])`.execute(db)
  return new Map(
    rows.map((row) => [
      row.id,
      preferredFirst(
        row,
        NETWORKS.filter((network) => row[network] === true),
      ),
    ]),
  )
}
