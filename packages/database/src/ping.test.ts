import { testDatabase } from '@market/testing/postgres'
import { expect, test } from 'vitest'
import { connect } from './connect.ts'
import { requireDurableCommits } from './ping.ts'

test('requireDurableCommits: accepts on and remote_apply only, and ignores an unreachable server', async () => {
  const database = await testDatabase()
  await requireDurableCommits(database.db)
  const unsafe = connect({ url: database.url, withoutFlush: true })
  const away = connect({ url: 'postgres://nobody@127.0.0.1:1/away' })
  try {
    await expect(requireDurableCommits(unsafe)).rejects.toThrow('synchronous_commit is off')
    for (const [value, isDurable] of [
      ['local', false],
      ['remote_write', false],
      ['on', true],
      ['remote_apply', true],
    ] as const) {
      const url = new URL(database.url)
      url.searchParams.set('options', `-c synchronous_commit=${value}`)
      const db = connect({ url: url.href })
      const checked = requireDurableCommits(db)
      await (isDurable ? checked : expect(checked).rejects.toThrow(`synchronous_commit is ${value}`))
      await db.destroy()
    }
    await requireDurableCommits(away)
  } finally {
    await unsafe.destroy()
    await away.destroy()
    await database.stop()
  }
})
