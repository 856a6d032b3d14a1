import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import type { Liability } from '../leaves/store.ts'

/** How far the server wallets of a network were read on a day. */
export interface WalletReading {
  readonly network: Network
  readonly day: string
  /** The agent of the last wallet that was read; empty before the first page. */
  readonly after: string
  readonly isComplete: boolean
}

export async function findReading(db: Db | Tx, network: Network): Promise<WalletReading | undefined> {
  const row = await db
    .selectFrom('wallet_readings')
    .selectAll()
    .where('network', '=', network)
    .executeTakeFirst()
  return row && { network, day: row.day, after: row.after_agent, isComplete: row.is_complete }
}

export async function startReading(tx: Tx, network: Network, day: string): Promise<WalletReading> {
  const first = { day, after_agent: '', is_complete: false }
  await tx
    .insertInto('wallet_readings')
    .values({ network, ...first })
    .onConflict((conflict) =>
      // Another worker may have started it, and read some pages.
      conflict.column('network').doUpdateSet(first).where('wallet_readings.day', '<>', day),
    )
    .execute()
  const started = await findReading(tx, network)
  assert(started !== undefined, 'the reading was started')
  return started
}

interface WalletPage extends Omit<WalletReading, 'isComplete'> {
  readonly held: readonly { readonly agentId: string; readonly address: string; readonly micros: bigint }[]
  readonly isLast: boolean
}

/**
 * Replaces what the wallets of one page hold, and continues the reading after them. Returns false and changes nothing when
 * the reading does not end where this page begins any more.
 */
export async function savePage(tx: Tx, { network, day, after, held, isLast }: WalletPage): Promise<boolean> {
  const end = held.at(-1)?.agentId ?? after
  const { numUpdatedRows } = await tx
    .updateTable('wallet_readings')
    .set({ after_agent: end, is_complete: isLast })
    .where('network', '=', network)
    .where('day', '=', day)
    .where('after_agent', '=', after)
    .where('is_complete', '=', false)
    .executeTakeFirst()
  // fix: wallet-page-once
  if (numUpdatedRows === 0n) return false
  await tx
    .deleteFrom('wallet_balances')
    .where('network', '=', network)
    .where('agent_id', '>', after)
    .$if(!isLast, (query) => query.where('agent_id', '<=', end))
    .execute()
  const rows = held
    .filter(({ micros }) => micros > 0n)
    .map(({ agentId, address, micros }) => ({ network, agent_id: agentId, address, amount_micros: micros }))
  if (rows.length > 0) await tx.insertInto('wallet_balances').values(rows).execute()
  return true
}

const PAGE = 20_000

/** The server wallets that held USDC on that day, as leaves that belong to their agents. */
export async function findWalletLeaves(tx: Tx, network: Network, day: string): Promise<Liability[]> {
  const reading = await findReading(tx, network)
  assert(reading?.day === day && reading.isComplete, `the server wallets were read on ${day}`)
  const leaves: Liability[] = []
  for (let after = ''; ; ) {
    const rows = await tx
      .selectFrom('wallet_balances')
      .select(['agent_id', 'address', 'amount_micros'])
      .where('network', '=', network)
      .where('agent_id', '>', after)
      .orderBy('agent_id')
      .limit(PAGE)
      .execute()
    for (const { agent_id: holder, address, amount_micros: micros } of rows)
      leaves.push({ account: `wallet:${network}:${address}`, holder, micros })
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return leaves
    after = last.agent_id
  }
}
