import type { BatchFees, SignedPayout } from '@market/core/ports/payout-sender'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { paysMarkOnce } from '@market/kernel/payout-mark'
import { sql } from 'kysely'
import { findLostUntil } from '../guards/store.ts'
import { SENDABLE } from '../hold.ts'
import type { Payout, PayoutId } from '../payout.ts'

/** What the treasury signed and a gas account may send now. */
export interface DueSignature extends SignedPayout {
  readonly payout: Pick<Payout, 'id' | 'round' | 'holdCode'>
}

/** The oldest first. Not what is suspended, in a block, or of an earlier round. */
export async function findDueSignatures(
  db: Db,
  network: Network,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<DueSignature[]> {
  const { rows } = await sql<SignedPayout & Payout>`
    select payout.id, payout.round, payout.hold_code as "holdCode",
      signature.reference, signature.bytes, signature.valid_to as "validTo"
    from payout_signatures as signature join payouts as payout on payout.id = signature.payout_id
    where signature.network = ${network} and signature.submit_at <= ${now}
      and payout.state = 'signed' and signature.round = payout.round and not exists (
        select from payout_signatures as later
        where later.payout_id = payout.id and later.round = payout.round and later.n > signature.n)
      and (payout.hold_code is null or payout.hold_code = any(${SENDABLE}::text[]))
      and not exists (
        select from outgoing_transfers as sent where sent.mark = payout.mark and sent.network = payout.network)
    order by signature.submit_at, signature.reference limit ${limit}`.execute(db)
  return rows.map(({ id, round, holdCode, ...signed }) => ({ ...signed, payout: { id, round, holdCode } }))
}

/** When they are sent next. */
export async function saveSubmitAt(
  db: Db | Tx,
  network: Network,
  references: readonly string[],
  at: Date,
): Promise<void> {
  await db
    .updateTable('payout_signatures')
    .set({ submit_at: at })
    .where('network', '=', network)
    .where('reference', '=', sql<string>`any(${references}::text[])`)
    .execute()
}

/** Payments in a block, and what has ended, need not be sent. A payment that leaves its block is sent again (`sendAgain`). */
export async function forgetSent(db: Db, network: Network, now: Date): Promise<void> {
  await sql`
    update payout_signatures as signature set submit_at = null
    from payouts as payout
    where payout.id = signature.payout_id and signature.network = ${network} and signature.submit_at <= ${now}
      and (payout.state <> 'signed' or signature.round <> payout.round or exists (
        select from payout_signatures as later
        where later.payout_id = payout.id and later.round = payout.round and later.n > signature.n
      ) or exists (
        select from outgoing_transfers as sent where sent.mark = payout.mark and sent.network = payout.network))`.execute(
    db,
  )
}

/** What was signed for a payout that no block has may be sent, when nothing says so already. */
export async function sendAgain(db: Db, id: PayoutId, now: Date): Promise<void> {
  await sql`
    update payout_signatures set submit_at = ${now} where (payout_id, round, n) = (
      select payout_id, round, n from payout_signatures where payout_id = ${id}
      order by round desc, n desc limit 1) and submit_at is null`.execute(db)
}

export type AliveUntil = ReadonlyMap<Network, Date>

/**
 * EVM: until when anybody who has what was signed can still make the chain pay it, whatever is frozen: what this database knows,
 * and what an earlier epoch of it may have signed.
 */
export async function findAliveUntil(db: Db | Tx): Promise<AliveUntil> {
  const { rows } = await sql<{ network: Network; end: Date }>`
    select signature.network, to_timestamp(max(signature.valid_to) + 1) as "end"
    from payouts as payout join payout_signatures as signature on signature.payout_id = payout.id
    where payout.state = 'signed' and signature.network <> 'solana-mainnet' group by signature.network`.execute(
    db,
  )
  const ends = new Map(rows.map(({ network, end }) => [network, end]))
  // fix: lost-counts-for-freeze
  for (const { network, end } of await findLostUntil(db)) ends.set(network, laterOf(end, ends.get(network)))
  return ends
}

const laterOf = (a: Date, b: Date = a): Date => (a > b ? a : b)

/** The newest transaction of a gas account. */
export interface SentBatch extends BatchFees {
  readonly account: string
  readonly nonce: bigint
  readonly sentAt: Date
}

export async function findBatches(db: Db, network: Network): Promise<SentBatch[]> {
  const rows = await db.selectFrom('payout_batches').selectAll().where('network', '=', network).execute()
  return rows.map((row) => ({
    account: row.account,
    nonce: row.nonce,
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    sentAt: row.sent_at,
  }))
}

export async function saveBatch(
  tx: Tx,
  network: Network,
  batch: SentBatch & { readonly reference: string | null },
): Promise<void> {
  const values = {
    nonce: batch.nonce,
    reference: batch.reference,
    max_fee_per_gas: batch.maxFeePerGas,
    max_priority_fee_per_gas: batch.maxPriorityFeePerGas,
    sent_at: batch.sentAt,
  }
  await tx
    .insertInto('payout_batches')
    .values({ network, account: batch.account, ...values })
    .onConflict((conflict) => conflict.columns(['network', 'account']).doUpdateSet(values))
    .execute()
}

/** On EVM another treasury could pay again what this one has signed, because a mark is of one account. */
export async function requireTreasury(tx: Tx, network: Network, treasury: string): Promise<void> {
  if (!paysMarkOnce(network)) return
  await tx
    .insertInto('payout_treasuries')
    .values({ network, treasury })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await tx
    .selectFrom('payout_treasuries')
    .select('treasury')
    .where('network', '=', network)
    .executeTakeFirst()
  assert(row?.treasury === treasury, `${network} is paid from ${row?.treasury}`)
}
