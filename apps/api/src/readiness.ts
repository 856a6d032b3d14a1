import { latestMigration } from '@market/database/migrations'
import { hasMigration } from '@market/database/ping'
import type { Db } from '@market/database/transact'

const PATIENCE_MS = 500

/** Ready when the database answers soon and has the tables this code was written for. */
export function readiness(db: Db): () => Promise<boolean> {
  const wanted = latestMigration()
  return () =>
    Promise.race([
      hasMigration(db, wanted),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), PATIENCE_MS).unref()),
    ])
}
