import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, test } from 'vitest'

const PIECES = ['"', '\\', '{', '}', ',', ' ', '\n', 'NULL', 'null', 'a', '🎨', '\\"', '","', '{}']

/** Every element of one and of two pieces, and the empty one. */
const ELEMENTS = ['', ...PIECES, ...PIECES.flatMap((first) => PIECES.map((second) => first + second))]

test('text arrays: Postgres returns every element as it was sent, also an empty one and NULL', async () => {
  const database = await testDatabase()
  try {
    const read = async (elements: readonly (string | null)[]) =>
      (await sql<{ read: unknown }>`select ${elements}::text[] as read`.execute(database.db)).rows[0]?.read
    const all = [null, ...ELEMENTS, null]
    expect(await read(all)).toEqual(all)
    for (const element of ELEMENTS) expect(await read([element])).toEqual([element])
    expect(await read([])).toEqual([])
  } finally {
    await database.stop()
  }
})
