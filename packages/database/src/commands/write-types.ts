import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describeTables } from '../describe-tables.ts'
import { migrate } from '../migrate.ts'

/** Generates the types from a new database, so that they depend only on the migrations. */
const server = process.env['POSTGRES_URL'] ?? 'postgres://root@127.0.0.1:5432/postgres'
const name = `market_types_${process.pid}`
const url = new URL(server)
url.pathname = `/${name}`

const admin = new pg.Client({ connectionString: server })
await admin.connect()
await admin.query(`create database ${name}`)
try {
  await migrate(url.href)
  const file = fileURLToPath(new URL('../tables.ts', import.meta.url))
  writeFileSync(file, await describeTables(url.href))
  console.log('Wrote packages/database/src/tables.ts')
} finally {
  await admin.query(`drop database ${name}`)
  await admin.end()
}
