import { unencryptedUrls } from '@market/kernel/encrypted-url'
import pg from 'pg'
import { grantRoles } from '../grants.ts'
import { createRoles } from '../roles.ts'

const url = process.env['DATABASE_URL']
if (url === undefined)
  throw new Error('Set DATABASE_URL to the migrated database, as a role that may create roles')
for (const fault of unencryptedUrls(process.env)) throw new Error(fault)
const { API_ROLE_PASSWORD: api, WORKER_ROLE_PASSWORD: worker } = process.env
await createRoles(url, { api, worker })
const client = new pg.Client({ connectionString: url })
await client.connect()
try {
  await grantRoles(client)
} finally {
  await client.end()
}
console.log('The roles market_api and market_worker can use this database.')
