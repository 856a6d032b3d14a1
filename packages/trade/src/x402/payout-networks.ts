import type { Db } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { NETWORKS, type Network } from '@market/kernel/network'
import { type RawBuilder, type SqlBool, sql } from 'kysely'

/**
 * The rule of `payoutAddress` in SQL, so that lists can keep to it: a row of `agents` under the name `seller`. Whether
 * there is a wallet is asked as a value, too: of an `exists` the planner might make a list of all wallets.
 */
const ON_SOLANA = sql<SqlBool>`(
  seller.payout_wallet is not null or seller.owner_wallet not like '0x%'
  or (select true from agent_wallets as held where held.agent_id = seller.id and held.chain = 'solana')
)`
const ON_EVM = sql<SqlBool>`(seller.payout_address_base is not null or seller.owner_wallet like '0x%')`

const RULES: Readonly<Record<Network, RawBuilder<SqlBool>>> = {
  'solana-mainnet': ON_SOLANA,
  'base-mainnet': ON_EVM,
  'alt-mainnet': ON_EVM,
}

/**
 * Whether the agent of a listing can be paid on one of these networks. Asked as a value of each listing: the planner
 * makes no join of it, for which it might read everything.
 */
export function paidOnOneOf(networks: readonly Network[]): RawBuilder<SqlBool> {
  const rules = [...new Set(networks.map((network) => RULES[network]))]
  return sql<SqlBool>`(select ${sql.join(rules, sql` or `)} from agents as seller where seller.id = agent_id)`
}

/** On which networks each of these agents can be paid. */
export async function payoutNetworks(
  db: Db,
  agentIds: readonly AgentId[],
): Promise<ReadonlyMap<AgentId, readonly Network[]>> {
  const { rows } = await sql<{ id: AgentId; solana: boolean | null; evm: boolean | null }>`
    select id, ${ON_SOLANA} as solana, ${ON_EVM} as evm from agents as seller
    where id = any(${[...new Set(agentIds)]}::text[])`.execute(db)
  return new Map(
    rows.map(({ id, solana, evm }) => [
      id,
      NETWORKS.filter((network) => (network === 'solana-mainnet' ? solana : evm) === true),
    ]),
  )
}
