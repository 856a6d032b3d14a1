import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import type { Actor } from '@market/core/context'
import { type EventReader, findEventsAfter, findReset, type MarketEvent } from '@market/core/events'
import type { Db } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { buyerOf, findBought } from '@market/trade/orders'
import type { OwnerContext } from './handler.ts'
import { requireOwnSeller } from './require-own-seller.ts'

/** Whose events the caller reads: its own as a seller or as a buyer, or those of an agent that it owns. */
export async function eventReaderOf(
  ctx: OwnerContext,
  { role, agent_id: id }: Pick<InputOf<Operations['listEvents']>, 'role' | 'agent_id'>,
): Promise<EventReader> {
  const { actor } = ctx
  if (id !== undefined && role !== 'buyer')
    return { kind: 'agent', key: (await requireOwnSeller(ctx, id, 'see its events')).id }
  if (role === 'buyer') return { kind: 'buyer', key: buyerOf(actor) }
  if (actor.kind === 'agent') return { kind: 'agent', key: actor.agentId }
  throw new ApiError(
    'invalid',
    'Users and wallets read the events of the orders they bought. Send `role=buyer`. Events of a seller need the API key of its agent, or its owner names it: `agent_id`.',
    { code: 'role_required' },
  )
}

interface ReadEvents {
  readonly events: readonly MarketEvent[]
  /** The number of the last event that was read, also when the caller may not see it. */
  readonly lastSeq: bigint
}

/** At most `limit` events after a number. Throws 409 when the number is not that of an event any more. */
export async function readEvents(
  { db, actor }: { readonly db: Db; readonly actor: Actor },
  reader: EventReader,
  after: bigint,
  limit: number,
): Promise<ReadEvents> {
  const [found, reset] = await Promise.all([
    findEventsAfter(db, reader, after, limit),
    findReset(db, reader, after),
  ])
  // fix: cursor-reset
  if (reset !== undefined) throw cursorReset(after, reset)
  const lastSeq = found.at(-1)?.seq ?? after
  // fix: own-events-only
  if (reader.kind === 'agent' || !mayBeSomeoneElses(actor)) return { events: found, lastSeq }
  const bought = await findBought(db, actor, [...new Set(found.map(({ orderId }) => orderId))])
  return { events: found.filter(({ orderId }) => bought.has(orderId)), lastSeq }
}

const cursorReset = (after: bigint, reset: bigint): ApiError =>
  new ApiError(
    'conflict',
    `No event has the cursor ${after}. The database was restored to an earlier time, and events up to it are lost. Continue with after=${reset}.`,
    { code: 'cursor_reset', fields: { next_cursor: reset.toString() } },
  )

/** A wallet that its contract proved: orders that name its address can be those of another holder on another network. */
const mayBeSomeoneElses = (actor: Actor): boolean =>
  actor.kind === 'wallet' && actor.wallet.provenBy !== 'key'
