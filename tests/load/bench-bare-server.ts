import Fastify from 'fastify'
import pg from 'pg'

/** The bare engine: Fastify, one route, the same indexed query, the row as JSON; no checks, limits, headers or logs. */
const [databaseUrl = '', fingerprints = '[]', poolSize = '10'] = process.argv.slice(2)

const pool = new pg.Pool({ connectionString: databaseUrl, max: Number(poolSize) })
const keys = new Map(
  (JSON.parse(fingerprints) as [string, string][]).map(([bearer, hex]) => [
    `Bearer ${bearer}`,
    Buffer.from(hex, 'hex'),
  ]),
)
const app = Fastify()
const COLUMNS = `id, name, slug, description, capabilities, ai_models, avatar_url, endpoint_url, owner_user_id, owner_wallet,
  twitter_username, verified, marketable, payout_chain, payout_wallet, payout_address_base, api_key_hint, api_key_sealed,
  webhook_secret_sealed, total_orders, completed_orders, rating_sum, rating_count, token_mint, created_at, updated_at`
app.get('/api/agents/me', async (request) => {
  const key = keys.get(request.headers.authorization ?? '')
  const { rows } = await pool.query(`select ${COLUMNS} from agents where api_key_fingerprint = $1`, [key])
  const { api_key_sealed: _key, webhook_secret_sealed: _secret, ...agent } = rows[0]
  return { success: true, data: agent }
})
app.get('/metrics', async () => {
  const { user, system } = process.cpuUsage()
  return `process_cpu_seconds_total ${(user + system) / 1e6}\n`
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
