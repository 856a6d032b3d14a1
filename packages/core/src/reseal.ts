import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from './context.ts'
import type { SealedPlace } from './ports/vault.ts'

/** A row that may hold a sealed value, and where that value belongs. */
export interface SealedRow<Key> {
  readonly key: Key
  readonly sealed: Buffer | null
}

export interface Resealing<Key> {
  readonly key: Key
  readonly old: Buffer
  readonly fresh: Buffer
}

/** A column of sealed values, as the store of its module walks and changes it. */
export interface SealedColumn<Key> {
  /** `table.column`. */
  readonly name: string
  placeOf(key: Key): SealedPlace
  /** The next rows in the order of their key, those without a value too, so that every step is as long as the last. */
  find(after: Key | undefined, limit: number): Promise<readonly SealedRow<Key>[]>
  /** Replaces each value that is still the old one in a row nobody holds, and says how many it replaced. */
  replace(changes: readonly Resealing<Key>[]): Promise<number>
}

export interface Resealed {
  readonly column: string
  /** Values in the column, as the last look saw it. */
  readonly values: number
  readonly resealed: number
  /** Values the last look still found under another key. At 0 no key but the current one is needed here. */
  readonly left: number
  /** Values that do not open, the first few with the reason; they are among those left. */
  readonly unopened: number
  readonly reasons: readonly string[]
}

const BATCH = 200
/** Values that somebody holds, or that were changed meanwhile, are left to the next look. */
const MOST_LOOKS = 10
const PAUSE_MS = 500
const KEPT_REASONS = 5

/**
 * Brings every value of a column under the current key. It holds no lock while it opens and waits for none, so nobody
 * notices it; what it has done stays done when it is killed. It ends with a look that found nothing left to do.
 */
export async function reseal<Key>(ctx: Needs<'vault'>, column: SealedColumn<Key>): Promise<Resealed> {
  let resealed = 0
  for (let looks = 1; ; looks++) {
    const look = await lookThrough(ctx, column)
    resealed += look.resealed
    const isOver = look.left === look.unopened || looks === MOST_LOOKS
    if (isOver) return { ...look, column: column.name, resealed }
    if (look.resealed < look.left - look.unopened) await pause(PAUSE_MS)
  }
}

async function lookThrough<Key>(ctx: Needs<'vault'>, column: SealedColumn<Key>) {
  const look = { values: 0, resealed: 0, left: 0, unopened: 0, reasons: [] as string[] }
  let rows: readonly SealedRow<Key>[]
  let after: Key | undefined
  do {
    rows = await column.find(after, BATCH)
    after = rows.at(-1)?.key
    const changes: Resealing<Key>[] = []
    for (const { key, sealed: old } of rows) {
      if (old === null) continue
      look.values += 1
      const place = column.placeOf(key)
      try {
        const fresh = await freshOf(ctx, old, place)
        if (fresh === undefined) continue
        changes.push({ key, old, fresh })
      } catch (error) {
        look.unopened += 1
        if (look.reasons.length < KEPT_REASONS) look.reasons.push(`${place.row}: ${messageOf(error)}`)
      }
      look.left += 1
    }
    if (changes.length > 0) look.resealed += await column.replace(changes)
  } while (rows.length === BATCH)
  return look
}

/** The value under the current key; nothing when it stands under it already. */
async function freshOf({ vault }: Needs<'vault'>, sealed: Buffer, place: SealedPlace) {
  if (!vault.needsReseal(sealed)) return undefined
  return vault.seal(await vault.open(sealed, place), place)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
