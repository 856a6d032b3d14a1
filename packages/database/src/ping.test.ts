import { testDatabase } from '@market/testing/postgres'
import { expect, test } from 'vitest'
import { connect } from './connect.ts'
import { requireDurableCommits } from './ping.ts'

test('requireDurableCommits: rejects synchronous_commit = off, and ignores an unreachable server', async () => {
  const database = await testDatabase()
  await requireDurableCommits(database.db)
  const unsafe = connect({ url: database.url, withoutFlush: true })
  const away = connect({ url: 'postgres://nobody@127.0.0.1:1/away' })
  try {
    await expect(requireDurableCommits(unsafe)).rejects.toThrow('synchronous_commit is off')
    await requireDurableCommits(away)
  } finally {
    await unsafe.destroy()
    await away.destroy()
    await database.stop()
  }
})
