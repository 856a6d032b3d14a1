import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import type { Payout } from '../payout.ts'
import { payoutOf } from '../row.ts'

export interface NetworkAmount {
  readonly network: Network
  readonly amount: Usdc
}

/** The payouts of an agent's earnings, newest first. */
export async function findPayoutsOfAgent(db: Db, agentId: AgentId, page: NewestFirstPage): Promise<Payout[]> {
  const rows = await db
    .selectFrom('payouts')
    .selectAll()
    .where('agent_id', '=', agentId)
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(payoutOf)
}

/** What is set aside for an agent and not final. The index `payouts_pending_of_agent` has this condition. */
export async function sumPending(tx: Tx, agentId: AgentId): Promise<NetworkAmount[]> {
  const { rows } = await sql<{ network: Network; amount: bigint }>`
    select network, sum(amount_micros)::bigint as amount from payouts
    where agent_id = ${agentId} and state in ('queued', 'held', 'signed', 'failed')
    group by network`.execute(tx)
  return rows.map(({ network, amount }) => ({ network, amount: usdc(amount) }))
}

/** What was sent to an agent and is final. It is kept as a total, because it grows without end. */
export async function sumPaidOut(tx: Tx, agentId: AgentId): Promise<NetworkAmount[]> {
  const rows = await tx
    .selectFrom('payout_totals')
    .select(['network', 'paid_out_micros'])
    .where('agent_id', '=', agentId)
    .execute()
  return rows.map((row) => ({ network: row.network as Network, amount: usdc(row.paid_out_micros) }))
}

/** Counts a payout that is final. Runs once per payout, in the transaction that makes it final. */
export async function addPaidOut(tx: Tx, { agentId, network, amount }: Payout): Promise<void> {
  if (agentId === null) return
  await sql`
    insert into payout_totals (agent_id, network, paid_out_micros) values (${agentId}, ${network}, ${amount})
    on conflict (agent_id, network)
      do update set paid_out_micros = payout_totals.paid_out_micros + excluded.paid_out_micros`.execute(tx)
}
