import type { Needs } from '@market/core/context'
import type { Depth, IncomingTransfer } from '@market/core/ports/chain'
import type { SignedPayment } from '@market/core/ports/facilitator'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { earlier } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, type SqlBool, sql } from 'kysely'
import { READ_WITHIN_MS } from '../transfer.ts'
import type { Intent, IntentKind, IntentPurpose, IntentStatus, Submission } from './intent.ts'

/** It is due at once. */
const NEVER = new Date(0)

type Row = Selectable<Tables['payment_intents']>

const intentOf = (row: Row): Intent => ({
  id: row.id as Intent['id'],
  purpose: { kind: row.purpose_kind as IntentKind, id: row.purpose_id },
  network: row.network as Network,
  reference: row.reference,
  payers: row.payers,
  due: usdc(row.due_micros),
  notBefore: row.not_before,
  since: row.created_at,
  submission: submissionOf(row),
  depth:
    row.confirmations === null
      ? null
      : {
          confirmations: row.confirmations,
          required: row.required_confirmations,
          ...(row.block_height !== null && { height: row.block_height }),
        },
})

function submissionOf(row: Row): Submission | null {
  const { reference, payment, bytes, gas_account, nonce, signed_at_height, last_valid_height } = row
  if (payment === null || signed_at_height === null) return null
  return {
    payment: payment as SignedPayment,
    proof: row.proof,
    settlement: {
      reference,
      bytes,
      gasAccount: gas_account,
      nonce,
      signedAtHeight: signed_at_height,
      lastValidHeight: last_valid_height,
    },
  }
}

interface NewIntent extends Omit<Intent, 'id' | 'since' | 'depth'>, Partial<Pick<Intent, 'depth'>> {
  readonly status?: 'waiting' | 'confirmed' | 'refunded'
  /** Where the transaction is named once, and what was asked for with it. */
  readonly scope?: string
  readonly request?: object | null
}

/** Starts to wait for a payment, or records one that came. One that the purpose waited for before is cancelled. */
export async function openIntent(ctx: Needs<'clock' | 'ids'>, tx: Tx, intent: NewIntent): Promise<Intent> {
  const now = ctx.clock.now()
  const { purpose, submission, depth = null, request = null } = intent
  await cancelIntent(tx, purpose)
  const row = await tx
    .insertInto('payment_intents')
    .values({
      id: ctx.ids.next('int'),
      purpose_kind: purpose.kind,
      purpose_id: purpose.id,
      network: intent.network,
      reference: intent.reference,
      payers: intent.payers === null ? null : [...intent.payers],
      due_micros: intent.due,
      not_before: intent.notBefore,
      status: intent.status ?? 'waiting',
      scope: intent.scope ?? null,
      request: request === null ? null : JSON.stringify(request),
      payment: submission === null ? null : JSON.stringify(submission.payment),
      proof: submission?.proof ?? null,
      bytes: submission?.settlement.bytes ?? null,
      gas_account: submission?.settlement.gasAccount ?? null,
      nonce: submission?.settlement.nonce ?? null,
      signed_at_height: submission?.settlement.signedAtHeight ?? null,
      last_valid_height: submission?.settlement.lastValidHeight ?? null,
      ...columnsOf(depth),
      created_at: now,
      // The reading of a transfer wakes only what waits for it already.
      checked_at: sql<Date>`case when exists (select from transfers where network = ${intent.network}
        and reference = ${intent.reference}) then ${NEVER} else ${now} end::timestamptz`,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return intentOf(row)
}

/** The purpose no longer waits: it was paid by another transfer, or ended. */
export async function cancelIntent(tx: Tx, { kind, id }: IntentPurpose): Promise<void> {
  await tx
    .updateTable('payment_intents')
    .set({ status: 'cancelled' })
    .where('purpose_kind', '=', kind)
    .where('purpose_id', '=', id)
    .where('status', '=', 'waiting')
    .execute()
}

/** What a signed payment pays for, or paid for: undefined when it never took effect. */
export async function findSigned(
  db: Db | Tx,
  { network, proof }: { readonly network: Network; readonly proof: string },
): Promise<Intent | undefined> {
  const row = await db
    .selectFrom('payment_intents')
    .selectAll()
    .where('network', '=', network)
    .where('proof', '=', proof)
    .where('bytes', 'is not', null)
    .where('status', 'in', ['waiting', 'confirmed', 'refunded'])
    .executeTakeFirst()
  return row && intentOf(row)
}

/** The transactions that are waited for. Queried by `kind` and `id`. */
export const waitingTransactions = sql`
  (select purpose_kind as kind, purpose_id as id, network, reference from payment_intents where status = 'waiting')`

export async function findWaitingIntent(
  db: Db | Tx,
  { kind, id }: IntentPurpose,
): Promise<Intent | undefined> {
  const row = await db
    .selectFrom('payment_intents')
    .selectAll()
    .where('purpose_kind', '=', kind)
    .where('purpose_id', '=', id)
    .where('status', '=', 'waiting')
    .executeTakeFirst()
  return row && intentOf(row)
}

const isSameDepth = (a: Depth | null, b: Depth | null): boolean =>
  a?.confirmations === b?.confirmations && a?.required === b?.required && a?.height === b?.height

const columnsOf = (depth: Depth | null) => ({
  confirmations: depth?.confirmations ?? null,
  required_confirmations: depth?.required ?? null,
  block_height: depth?.height ?? null,
})

/** What buyers are shown while a payment waits. */
export async function saveDepth(db: Db, { id, depth }: Intent, now: Depth | null): Promise<void> {
  if (isSameDepth(depth, now)) return
  await db
    .updateTable('payment_intents')
    .set(columnsOf(now))
    .where('id', '=', id)
    .where('status', '=', 'waiting')
    .execute()
}

export async function endIntent(
  tx: Tx,
  { id }: Intent,
  end: { readonly status: IntentStatus; readonly reference: string; readonly why: string | null },
): Promise<void> {
  const { status, reference, why } = end
  await tx
    .updateTable('payment_intents')
    .set({ status, reference, why: why === null ? null : why.slice(0, 300) })
    .where('id', '=', id)
    .where('status', '=', 'waiting')
    .execute()
}

const IS_KIND = { submitted: sql`bytes is not null`, named: sql`bytes is null` }

/**
 * The intents that were not checked for longest, on networks that this process can check them on. They are marked as
 * checked, so that another worker takes others.
 */
export async function acquireWaiting(
  db: Db,
  kind: keyof typeof IS_KIND,
  own: { readonly chains: readonly Network[]; readonly facilitators: readonly Network[] },
  at: { readonly now: Date; readonly before: Date },
  limit: number,
): Promise<Intent[]> {
  const { rows } = await sql<Row>`
    update payment_intents set checked_at = ${at.now} where id in (
      select id from payment_intents where status = 'waiting' and ${IS_KIND[kind]} and checked_at < ${at.before}
        and network = any(${own.chains}) and (payment is null or network = any(${own.facilitators}))
        and ${IS_DEEP_ENOUGH} and (bytes is not null or ${isDue(at.now)})
      order by checked_at limit ${limit} for update skip locked
    ) returning *`.execute(db)
  return rows.map(intentOf)
}

/** A payment in a block is looked at again once the blocks that were read confirm it. */
const IS_DEEP_ENOUGH = sql`coalesce(case when required_confirmations is null
  then block_height <= (select final_height from followed_networks as followed where followed.network = payment_intents.network)
  else block_height + required_confirmations - 1 <=
    (select head_height from followed_networks as followed where followed.network = payment_intents.network) end, true)`

/**
 * One that no block has is looked for less and less often: reading its block wakes it. So where the newest blocks are read at the
 * moment, a node is asked only about one that should have been read by now.
 */
const isDue = (now: Date) => sql`(block_height is not null or checked_at <= ${now}::timestamptz - case
  when exists (select from followed_networks as followed where followed.network = payment_intents.network
    and read_at > ${earlier(now, READ_WITHIN_MS)})
  then greatest(interval '10 seconds', least(interval '5 minutes', (${now}::timestamptz - created_at) / 2))
  else least(interval '1 minute', (${now}::timestamptz - created_at) / 10) end)`

/** Blocks after a final one were replaced: the payments that wait in them are looked for again. */
export async function forgetDepths(tx: Tx, network: Network, finalHeight: bigint): Promise<void> {
  await tx
    .updateTable('payment_intents')
    .set({ confirmations: null, required_confirmations: null, block_height: null, checked_at: NEVER })
    .where('network', '=', network)
    .where('status', '=', 'waiting')
    .where('block_height', '>', finalHeight)
    .execute()
}

/** Transfers that something waits for were read. */
export async function wakeIntents(
  tx: Tx,
  network: Network,
  transfers: readonly Pick<IncomingTransfer, 'reference'>[],
): Promise<void> {
  if (transfers.length === 0) return
  const references = transfers.map(({ reference }) => reference)
  await tx
    .updateTable('payment_intents')
    .set({ checked_at: NEVER })
    .where('network', '=', network)
    .where('reference', '=', sql<string>`any(${references}::text[])`)
    .where('status', '=', 'waiting')
    .execute()
}

/** Whether something, except for one purpose, waits for a transfer of this wallet in this transaction. */
export async function isAwaited(
  db: Db | Tx,
  { network, reference, payer }: Payer,
  except?: IntentPurpose,
): Promise<boolean> {
  const row = await db
    .selectFrom('payment_intents')
    .select('id')
    .where('network', '=', network)
    .where('reference', '=', reference)
    .where('status', '=', 'waiting')
    .where((is) => is.or([is('payers', 'is', null), hasPayer(payer)]))
    .$if(except !== undefined, (query) => query.where('purpose_id', '<>', except?.id ?? ''))
    .executeTakeFirst()
  return row !== undefined
}

/** Who paid in a transaction. */
interface Payer {
  readonly network: Network
  readonly reference: string
  readonly payer: string
}

const hasPayer = (payer: string) => sql<SqlBool>`payers @> array[${payer}]::text[]`

/** Whether we submitted this transaction ourselves, for a payment that its buyer signed. */
export async function isSubmittedByUs(db: Db | Tx, network: Network, reference: string): Promise<boolean> {
  return (await findSubmission(db, { network, reference })) !== undefined
}

/**
 * The signed payment of a transaction. It can be executed by any transaction, once: after a reorganization by a
 * replacement of ours or by another sender.
 */
export async function findSubmission(
  db: Db | Tx,
  { network, reference, payer }: Omit<Payer, 'payer'> & Partial<Payer>,
): Promise<Submission | undefined> {
  const row = await db
    .selectFrom('payment_intents')
    .selectAll()
    .where('network', '=', network)
    .where('reference', '=', reference)
    .where('payment', 'is not', null)
    .$if(payer !== undefined, (select) => select.where(hasPayer(payer ?? '')))
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (row && submissionOf(row)) ?? undefined
}
