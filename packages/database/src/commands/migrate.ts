import { migrate } from '../migrate.ts'

const url = process.env['DATABASE_URL']
if (url === undefined) throw new Error('Set DATABASE_URL to the database to migrate')
const done = await migrate(url)
console.log(done.length === 0 ? 'The database is up to date.' : `Applied: ${done.join(', ')}`)
