import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Migration {
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

const FOLDER = fileURLToPath(new URL('../migrations/', import.meta.url))
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/

/** Reads the migration files, sorted in the order in which they are applied. */
export function readMigrations(folder = FOLDER): Migration[] {
  return readdirSync(folder)
    .filter((file) => NAME.test(file))
    .sort()
    .map((file) => {
      const sql = readFileSync(`${folder}/${file}`, 'utf8')
      return {
        name: file.replace(/\.sql$/, ''),
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      }
    })
}

/** The name of the newest migration in this version. A process is ready only when its database has it. */
export const latestMigration = (): string => readMigrations().at(-1)?.name ?? 'none'
