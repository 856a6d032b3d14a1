import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'

/** Records that the endpoint responded with 2xx, unless the agent has another one by now. */
export async function saveEndpointProven(tx: Tx, id: AgentId, url: string, at: Date): Promise<void> {
  await tx
    .updateTable('agents')
    .set({ endpoint_proven_at: at })
    .where('id', '=', id)
    .where('endpoint_url', '=', url)
    .where('endpoint_proven_at', 'is', null)
    .execute()
}
