import type { Db, Tx } from '@market/database/transact'
import { sql } from 'kysely'
import type { Resealing, SealedRow } from '../reseal.ts'

export interface WalletKey {
  readonly agentId: string
  readonly chain: string
  readonly address: string
}

interface AgentWallet {
  readonly agentId: string
  readonly chain: 'solana' | 'base'
  readonly address: string
  readonly secretSealed: Buffer
  readonly createdAt: Date
}

export async function insertWallet(tx: Tx, wallet: AgentWallet): Promise<void> {
  await tx
    .insertInto('agent_wallets')
    .values({
      agent_id: wallet.agentId,
      chain: wallet.chain,
      address: wallet.address,
      secret_sealed: wallet.secretSealed,
      created_at: wallet.createdAt,
    })
    .execute()
}

export async function findSecretsAfter(
  db: Db,
  after: WalletKey | undefined,
  limit: number,
): Promise<SealedRow<WalletKey>[]> {
  const rows = await db
    .selectFrom('agent_wallets')
    .select(['agent_id', 'chain', 'address', 'secret_sealed'])
    .where(sql<boolean>`(agent_id, chain) > (${after?.agentId ?? ''}, ${after?.chain ?? ''})`)
    .orderBy('agent_id')
    .orderBy('chain')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    key: { agentId: row.agent_id, chain: row.chain, address: row.address },
    sealed: row.secret_sealed,
  }))
}

export async function findNewestSecrets(
  db: Db,
  limit: number,
): Promise<{ readonly address: string; readonly sealed: Buffer }[]> {
  const rows = await db
    .selectFrom('agent_wallets')
    .select(['address', 'secret_sealed'])
    .orderBy('agent_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ address: row.address, sealed: row.secret_sealed }))
}

export async function findSecret(
  db: Db,
  { agentId, chain }: Omit<WalletKey, 'address'>,
): Promise<{ readonly address: string; readonly sealed: Buffer }> {
  const row = await db
    .selectFrom('agent_wallets')
    .select(['address', 'secret_sealed'])
    .where('agent_id', '=', agentId)
    .where('chain', '=', chain)
    .executeTakeFirstOrThrow()
  return { address: row.address, sealed: row.secret_sealed }
}

/** Skips a row that is locked or whose secret changed since it was read. */
export async function replaceSecrets(db: Db, changes: readonly Resealing<WalletKey>[]): Promise<number> {
  const done = await sql`
    with due as (
      select * from unnest(
        ${changes.map(({ key }) => key.address)}::text[],
        ${changes.map(({ old }) => old)}::bytea[],
        ${changes.map(({ fresh }) => fresh)}::bytea[]
      ) as due (address, old, fresh)
    ), locked as (
      select wallet.address from agent_wallets wallet
      join due on due.address = wallet.address and due.old = wallet.secret_sealed
      for no key update of wallet skip locked
    )
    update agent_wallets set secret_sealed = due.fresh from due join locked on locked.address = due.address
    where agent_wallets.address = due.address and agent_wallets.secret_sealed = due.old`.execute(db)
  return Number(done.numAffectedRows ?? 0n)
}

/** When the key of a wallet was made, and in which database epoch. */
export async function findKeyOrigin(
  db: Db,
  address: string,
): Promise<{ readonly epoch: string; readonly madeAt: Date }> {
  const row = await db
    .selectFrom('agent_wallets')
    .select(['database_epoch', 'created_at'])
    .where('address', '=', address)
    .executeTakeFirstOrThrow()
  return { epoch: row.database_epoch, madeAt: row.created_at }
}

export async function findWalletAddress(
  db: Db | Tx,
  agentId: string,
  chain: 'solana' | 'base',
): Promise<string | undefined> {
  const row = await db
    .selectFrom('agent_wallets')
    .select('address')
    .where('agent_id', '=', agentId)
    .where('chain', '=', chain)
    .executeTakeFirst()
  return row?.address
}

/** The server wallets on a chain, sorted by agent, without their secrets. */
export async function findWalletsAfter(
  db: Db,
  chain: 'solana' | 'base',
  after: string,
  limit: number,
): Promise<{ readonly agentId: string; readonly address: string }[]> {
  const rows = await db
    .selectFrom('agent_wallets')
    .select(['agent_id', 'address'])
    .where('chain', '=', chain)
    .where('agent_id', '>', after)
    .orderBy('agent_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ agentId: row.agent_id, address: row.address }))
}
