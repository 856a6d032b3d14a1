import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from './context.ts'
import type { SealContext } from './ports/vault.ts'

/** A row with a sealed value or null. */
export interface SealedRow<Key> {
  readonly key: Key
  readonly sealed: Buffer | null
}

export interface Resealing<Key> {
  readonly key: Key
  readonly old: Buffer
  readonly fresh: Buffer
}

/** A column of values that depend on a key, with the queries of its module. */
export interface SealedColumn<Key> {
  /** `table.column`. */
  readonly name: string
  placeOf(key: Key): SealContext
  /** The value under the current key, or undefined when it already is. Throws when it cannot be made. */
  renew(value: Buffer, key: Key): Promise<Buffer | undefined>
  /** The next rows in key order, including those without a value, so that a batch shorter than the limit is the last. */
  find(after: Key | undefined, limit: number): Promise<readonly SealedRow<Key>[]>
  /** Replaces values that are unchanged and not locked, and returns how many it replaced. */
  replace(changes: readonly Resealing<Key>[]): Promise<number>
}

export interface Resealed {
  readonly column: string
  /** Values in the column, counted by the last pass. */
  readonly values: number
  readonly resealed: number
  /** Values that the last pass found under another key. At 0 only the current key is needed for this column. */
  readonly left: number
  /** Values that cannot be opened, with the first few reasons. They are included in `left`. */
  readonly unopened: number
  readonly reasons: readonly string[]
}

const BATCH = 200
/** Locked and concurrently changed values are left to the next pass. */
const MAX_PASSES = 10
const PAUSE_MS = 500
const MAX_REASONS = 5

/**
 * Seals every value of a column with the current key. It holds no lock while it opens values and waits for none, so it
 * can run in production, and it can be repeated after a crash. It ends with a pass that found nothing to do.
 */
export async function reseal<Key>(column: SealedColumn<Key>): Promise<Resealed> {
  let resealed = 0
  for (let passes = 1; ; passes++) {
    const pass = await runPass(column)
    resealed += pass.resealed
    const isDone = pass.left === pass.unopened || passes === MAX_PASSES
    if (isDone) return { ...pass, column: column.name, resealed }
    if (pass.resealed < pass.left - pass.unopened) await pause(PAUSE_MS)
  }
}

async function runPass<Key>(column: SealedColumn<Key>) {
  const pass = { values: 0, resealed: 0, left: 0, unopened: 0, reasons: [] as string[] }
  let rows: readonly SealedRow<Key>[]
  let after: Key | undefined
  do {
    rows = await column.find(after, BATCH)
    after = rows.at(-1)?.key
    const changes: Resealing<Key>[] = []
    for (const { key, sealed: old } of rows) {
      if (old === null) continue
      pass.values += 1
      try {
        const fresh = await column.renew(old, key)
        if (fresh === undefined) continue
        changes.push({ key, old, fresh })
      } catch (error) {
        pass.unopened += 1
        if (pass.reasons.length < MAX_REASONS)
          pass.reasons.push(`${column.placeOf(key).row}: ${messageOf(error)}`)
      }
      pass.left += 1
    }
    if (changes.length > 0) pass.resealed += await column.replace(changes)
  } while (rows.length === BATCH)
  return pass
}

/** Renews a value that the vault sealed. */
export const renewedBy =
  <Key>({ vault }: Needs<'vault'>, placeOf: (key: Key) => SealContext) =>
  async (sealed: Buffer, key: Key): Promise<Buffer | undefined> =>
    vault.needsReseal(sealed) ? vault.seal(await vault.open(sealed, placeOf(key)), placeOf(key)) : undefined

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
