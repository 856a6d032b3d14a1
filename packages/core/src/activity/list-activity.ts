import {
  type CursorField,
  cursorCodec,
  dateField,
  type NextCursor,
  type PageRequest,
} from '@market/kernel/cursor'
import type { Needs } from '../context.ts'
import type { Activity, ActivityKind } from './activity.ts'
import { type ActivityPosition, findActivity } from './store.ts'

/** The largest id that Postgres can have. */
const MAX_ID = 2n ** 63n - 1n

const idField: CursorField<bigint> = {
  toJson: (id) => id.toString(),
  parse: (json) => {
    if (typeof json !== 'string' || !/^[1-9]\d{0,18}$/.test(json)) return undefined
    const id = BigInt(json)
    return id <= MAX_ID ? id : undefined
  },
}

const CURSOR = cursorCodec<ActivityPosition>('activity', { at: dateField, id: idField })

interface ActivityPage {
  readonly activity: readonly Activity[]
  readonly nextCursor: NextCursor
}

/** What happened lately, newest first. */
export async function listActivity(
  { db }: Needs<'db'>,
  { kind, limit, cursor }: PageRequest & { readonly kind?: ActivityKind | undefined },
): Promise<ActivityPage> {
  const after = CURSOR.decode(cursor)
  const found = await findActivity(db, kind, { limit: limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, limit, (row) => row)
  return { activity: rows, nextCursor }
}
