import type { TreasurySignature } from '@market/core/ports/reserve-anchor'
import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import type { SnapshotId } from '../snapshots/index.ts'
import type { Anchor, AnchoredTree, AnchorText } from './anchor.ts'

/** As stored; amounts as text, because JSON has no large numbers. */
type TreeRow = Omit<AnchoredTree, 'micros'> & { readonly micros: string }

const treesOf = (stored: unknown): AnchoredTree[] =>
  (stored as readonly TreeRow[]).map(({ micros, ...tree }) => ({ ...tree, micros: BigInt(micros) }))

/** Does nothing when another worker stored the day before: its text is published. */
export async function insertAnchor(tx: Tx, { day, text, trees }: Anchor, at: Date): Promise<void> {
  const stored = JSON.stringify(trees.map(({ micros, ...tree }) => ({ ...tree, micros: micros.toString() })))
  await tx
    .insertInto('reserve_anchors')
    .values({ day, text, trees: stored, due_at: at, created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Ids of the day's snapshots whose day has no anchor, from one day to another. */
export async function findUnanchored(
  db: Db,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<{ readonly day: string; readonly id: SnapshotId }[]> {
  const { rows } = await sql<{ day: string; id: SnapshotId }>`
    select day, id from reserve_snapshots as snapshot where day between ${from} and ${to}
      and not exists (select from reserve_anchors as anchor where anchor.day = snapshot.day)
    order by day, network`.execute(db)
  return rows
}

const RETRY_SECONDS = 30

/** A due anchor that is not final. It is due again later, so that no two workers publish it at once. */
export async function reserveDueAnchor(tx: Tx, now: Date): Promise<AnchorText | undefined> {
  const { rows } = await sql<AnchorText>`
    update reserve_anchors set due_at = ${now}::timestamptz + ${RETRY_SECONDS} * interval '1 second'
    where day = (
      select day from reserve_anchors where reference is null and due_at <= ${now}
      order by due_at limit 1 for update skip locked
    ) returning day, text`.execute(tx)
  return rows[0]
}

export async function saveAnchorFinal(
  tx: Tx,
  day: string,
  { finalAt, ...final }: FinalAnchor,
): Promise<void> {
  await tx
    .updateTable('reserve_anchors')
    .set({ ...final, final_at: finalAt })
    .where('day', '=', day)
    .where('reference', 'is', null)
    .execute()
}

/** When the newest anchor became final; before the first, when the first day's snapshot was taken. */
export async function findLastAnchored(db: Db): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select coalesce(
      (select final_at from reserve_anchors where final_at is not null order by day desc limit 1),
      (select taken_at from reserve_snapshots where day is not null order by day limit 1)
    ) as at`.execute(db)
  return rows[0]?.at ?? undefined
}

/** From a day on, the texts that contain a snapshot of this treasury and that it has not signed. */
export async function findUnsigned(
  db: Db,
  { network, treasury }: Pick<TreasurySignature, 'network' | 'treasury'>,
  from: string,
): Promise<AnchorText[]> {
  const { rows } = await sql<AnchorText>`
    select anchor.day, anchor.text from reserve_anchors as anchor
    join reserve_snapshots as snapshot on snapshot.day = anchor.day and snapshot.network = ${network}
    where anchor.day >= ${from} and lower(snapshot.treasury) = ${treasury.toLowerCase()}
      and anchor.trees @> jsonb_build_array(jsonb_build_object('snapshotId', snapshot.id))
      and not anchor.signatures @> ${JSON.stringify([{ network }])}
    order by anchor.day`.execute(db)
  return rows
}

/** Does nothing when another worker stored one before. */
export async function addSignature(tx: Tx, day: string, signature: TreasurySignature): Promise<void> {
  await sql`
    update reserve_anchors set signatures = signatures || ${JSON.stringify([signature])}
    where day = ${day} and not signatures @> ${JSON.stringify([{ network: signature.network }])}`.execute(tx)
}

/** The final transaction that contains the text of a day. */
interface FinalAnchor {
  readonly network: Network
  readonly account: string
  readonly reference: string
  readonly finalAt: Date
}

export interface ListedAnchor extends Anchor {
  readonly signatures: readonly TreasurySignature[]
  /** Null before. */
  readonly anchored: FinalAnchor | null
}

/** Newest first, before a day. */
export async function findAnchors(
  db: Db,
  before: string | undefined,
  limit: number,
): Promise<ListedAnchor[]> {
  const rows = await db
    .selectFrom('reserve_anchors')
    .select(['day', 'text', 'trees', 'signatures', 'final_at', 'network', 'account', 'reference'])
    .$if(before !== undefined, (query) => query.where('day', '<', before ?? ''))
    .orderBy('day', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ day, text, trees, signatures, network, account, reference, final_at: finalAt }) => ({
    day,
    text,
    trees: treesOf(trees),
    signatures: signatures as unknown as readonly TreasurySignature[],
    anchored:
      network === null || account === null || reference === null || finalAt === null
        ? null
        : { network: network as Network, account, reference, finalAt },
  }))
}
