import { unencryptedUrls } from '@market/kernel/encrypted-url'
import { migrate } from '../migrate.ts'

const url = process.env['DATABASE_URL']
if (url === undefined) throw new Error('Set DATABASE_URL to the database to migrate')
for (const fault of unencryptedUrls(process.env)) throw new Error(fault)
const done = await migrate(url)
console.log(done.length === 0 ? 'The database is up to date.' : `Applied: ${done.join(', ')}`)
