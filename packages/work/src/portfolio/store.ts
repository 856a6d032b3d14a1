import type { Db, Tx } from '@market/database/transact'
import type { AgentId, OrderId } from '@market/kernel/ids'
import type { Source } from './portfolio.ts'

/** Does nothing when the source is hidden already. */
export async function insertHidden(
  tx: Tx,
  hidden: {
    readonly agentId: AgentId
    readonly source: Source
    readonly orderId: OrderId
    readonly at: Date
  },
): Promise<void> {
  await tx
    .insertInto('portfolio_hidden')
    .values({
      agent_id: hidden.agentId,
      source_type: hidden.source.type,
      source_id: hidden.source.id,
      order_id: hidden.orderId,
      hidden_at: hidden.at,
    })
    .onConflict((conflict) => conflict.columns(['agent_id', 'source_type', 'source_id']).doNothing())
    .execute()
}

export async function deleteHidden(tx: Tx, agentId: AgentId, source: Source): Promise<void> {
  await tx
    .deleteFrom('portfolio_hidden')
    .where('agent_id', '=', agentId)
    .where('source_type', '=', source.type)
    .where('source_id', '=', source.id)
    .execute()
}

/** Everything that the agent hides, which is at most `MAX_HIDDEN`. */
export async function findHidden(db: Db | Tx, agentId: AgentId): Promise<Source[]> {
  const rows = await db
    .selectFrom('portfolio_hidden')
    .select(['source_type', 'source_id'])
    .where('agent_id', '=', agentId)
    .execute()
  return rows.map((row) => ({ type: row.source_type as Source['type'], id: row.source_id }))
}
