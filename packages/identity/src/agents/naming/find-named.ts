import type { Db, Tx } from '@market/database/transact'
import type { Skeletons } from '../../names/index.ts'
import type { Agent } from '../agent.ts'
import { AGENT_COLUMNS, agentOf } from '../row.ts'

/** The agents whose names look like the one with these skeletons, oldest first: at most one for each skeleton. */
export async function findAgentsNamed(db: Db | Tx, skeletons: Skeletons): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .select(AGENT_COLUMNS)
    .where((where) =>
      where.or([
        where('name_skeleton', '=', skeletons.name_skeleton),
        where('written_skeleton', '=', skeletons.written_skeleton),
      ]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(agentOf)
}
