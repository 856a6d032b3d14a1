import type { Actor } from '@market/core/context'
import type { Db } from '@market/database/transact'
import {
  findWaitingIntent,
  type NamedTransaction,
  nameTransfer,
  type Purpose,
  type PurposeKind,
  type PurposeRule,
} from '@market/money/payments'
import { marketContext } from '@market/testing/market-context'
import { releaseContested } from '@market/trade/x402'
import { sql } from 'kysely'

type Ctx = Omit<Parameters<typeof nameTransfer>[0], 'releaseContested'>

/** Pays with a transfer as the handlers do. */
export const payByTransfer = <
  Kind extends PurposeKind,
  Wanted extends NamedTransaction,
  Target,
  More extends object,
>(
  ctx: Ctx & More,
  actor: Actor,
  rule: PurposeRule<Kind, Wanted, Target, More>,
  wanted: Wanted,
): Promise<Target> => nameTransfer({ ...ctx, releaseContested }, rule, { actor, wanted })

export interface AcceptanceRow {
  readonly id: string
  readonly bounty_id: string
  readonly claim_id: string
  readonly network: string
  readonly reference: string
  readonly status: 'waiting' | 'accepted' | 'refunded' | 'failed'
  readonly order_id: string | null
  readonly created_at: Date
}

/** The transfers that were named to accept claims, and what became of each. */
export const acceptances = sql`(
  select named.*, case when named.status = 'accepted' then orders.id end as order_id from (
    select purpose_id as id, scope as bounty_id, request ->> 'claim_id' as claim_id, network, reference,
      min(created_at) as created_at,
      case when bool_or(status = 'waiting') then 'waiting'
        when bool_or(status in ('failed', 'expired', 'cancelled')) then 'failed'
        when bool_or(status = 'confirmed') then 'accepted' else 'refunded' end as status
    from payment_intents where purpose_kind = 'bounty' group by 1, 2, 3, 4, 5
  ) as named left join orders using (bounty_id))`

export async function findAcceptances(db: Db): Promise<AcceptanceRow[]> {
  return (await sql<AcceptanceRow>`select * from ${acceptances} as acceptance`.execute(db)).rows
}

/** The ids of the transfers that were named for a bounty. */
export const namedIn = (bountyId: string) =>
  sql<string>`(select purpose_id from payment_intents where purpose_kind = 'bounty' and scope = ${bountyId})`

/** A transfer that was named, as the command stores it. */
export async function insertNamed(
  db: Db,
  named: {
    readonly purpose: Purpose
    readonly reference: string
    readonly scope: string
    readonly status: 'waiting' | 'confirmed' | 'failed'
    readonly request?: object
    readonly at?: Date
    readonly depth?: { readonly confirmations: number; readonly required: number }
  },
): Promise<void> {
  const { purpose, reference, scope, status, request, depth, at = new Date() } = named
  const id = marketContext({ db }).ids.next('int')
  await db
    .insertInto('payment_intents')
    .values({
      ...{ id, purpose_kind: purpose.kind, purpose_id: purpose.id, network: 'base-mainnet', reference },
      ...{ scope, request: request === undefined ? null : JSON.stringify(request), status },
      ...{ confirmations: depth?.confirmations ?? null, required_confirmations: depth?.required ?? null },
      ...{ due_micros: 1n, not_before: new Date(0), created_at: at, checked_at: at },
    })
    .execute()
}

/** The transaction that an order waits for. */
export async function pendingOf(db: Db, orderId: string): Promise<string | null> {
  const intent = await findWaitingIntent(db, { kind: 'order', id: orderId })
  return intent?.reference ?? null
}
