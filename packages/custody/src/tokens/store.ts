import { columns, rowReader, rowWriter } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Selectable } from 'kysely'
import type { Token } from './token.ts'

type Columns = Tables['agent_tokens']
const NAMES = columns('agent_tokens')

const tokenOf = rowReader<Selectable<Columns>, Token>()(NAMES, {})
const rowOf = rowWriter<Columns, Token>()(NAMES, {})

/** Returns false when the agent has a token, or another agent has this mint. */
export async function insertToken(tx: Tx, token: Token): Promise<boolean> {
  const done = await tx
    .insertInto('agent_tokens')
    .values(rowOf(token))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return done.numInsertedOrUpdatedRows === 1n
}

/** Deletes the registration of the mint that has no transaction as its proof. Returns its agent. */
export async function deleteUnproven(tx: Tx, mint: string): Promise<AgentId | undefined> {
  const row = await tx
    .deleteFrom('agent_tokens')
    .where('mint', '=', mint)
    .where('tx_hash', 'is', null)
    .returning('agent_id')
    .executeTakeFirst()
  return row?.agent_id as AgentId | undefined
}

export async function findToken(db: Db | Tx, agentId: AgentId): Promise<Token | undefined> {
  const row = await db
    .selectFrom('agent_tokens')
    .selectAll()
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return row && tokenOf(row)
}
