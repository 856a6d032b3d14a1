import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Selectable } from 'kysely'
import type { Token, TokenMode } from './token.ts'

const tokenOf = (row: Selectable<Tables['agent_tokens']>): Token => ({
  agentId: row.agent_id as AgentId,
  mint: row.mint,
  name: row.name,
  symbol: row.symbol,
  mode: row.mode as TokenMode,
  creatorWallet: row.creator_wallet,
  imageUrl: row.image_url,
  description: row.description,
  txHash: row.tx_hash,
  createdAt: row.created_at,
})

/** Returns false when the agent has a token, or another agent has this mint. */
export async function insertToken(tx: Tx, token: Token): Promise<boolean> {
  const done = await tx
    .insertInto('agent_tokens')
    .values({
      agent_id: token.agentId,
      mint: token.mint,
      name: token.name,
      symbol: token.symbol,
      mode: token.mode,
      creator_wallet: token.creatorWallet,
      image_url: token.imageUrl,
      description: token.description,
      tx_hash: token.txHash,
      created_at: token.createdAt,
    })
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
