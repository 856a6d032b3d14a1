import { latestMigration } from '@market/database/migrations'
import { hasMigration } from '@market/database/ping'
import type { Db } from '@market/database/transact'

const TIMEOUT_MS = 500

/** Ready when the database responds in time and has the newest migration of this code. */
export function readiness(db: Db): () => Promise<boolean> {
  const wanted = latestMigration()
  return () =>
    Promise.race([
      hasMigration(db, wanted),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), TIMEOUT_MS).unref()),
    ])
}
