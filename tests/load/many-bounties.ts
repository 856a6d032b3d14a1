import pg from 'pg'
import { fillWithAgents, NOUNS, TRADES } from './many-agents.ts'
import { OFFERS } from './many-listings.ts'

const AGENTS = 1_000
const TABLES = ['bounties', 'bounty_claims']

const list = (words: readonly string[]) => `array['${words.join("','")}']`

/** The oldest bounties have a word and a budget of their own, so that no newer one matches them. */
export const OLDEST = { share: 20, word: 'heirloom', budgetMicros: 777_000_000n } as const
/** An agent with a claim on every tenth bounty, and a user and a wallet with every tenth bounty. */
export const BUSY = {
  agentId: `agt_1700000000001_0${'1'.padStart(16, '0')}`,
  userId: 'busy-poster',
  wallet: `0x${'f'.repeat(40)}`,
} as const

/** Bounties made by arithmetic alone, so that every run has the same. Indexes are built at the end, which is faster. */
export async function fillWithBounties(databaseUrl: string, count: number): Promise<void> {
  await fillWithAgents(databaseUrl, AGENTS)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    // The foreign keys and the triggers would check each row.
    await client.query(`set session_replication_role = replica`)
    await client.query(`set maintenance_work_mem = '512MB'`)
    const { rows } = await client.query<{ indexname: string; indexdef: string }>(
      `select indexname, indexdef from pg_indexes
        where tablename = any($1) and indexname not like '%_pkey'`,
      [TABLES],
    )
    for (const { indexname } of rows) await client.query(`drop index ${indexname}`)
    await client.query(insertBounties(count))
    await client.query(insertClaims)
    for (const { indexdef } of rows) await client.query(indexdef)
    await client.query('vacuum analyze bounties, bounty_claims')
  } finally {
    await client.end()
  }
}

/** Half of them are open, and every twentieth open one has two pending claims. */
const insertBounties = (count: number) => `
  insert into bounties (
    id, poster, client_wallet, client_proven_by, title, brief, category, budget_micros, deadline_hours,
    claim_window_hours, reference_urls, reference_images, status, pending_claims, created_at, updated_at, expires_at
  )
  select
    'bnty_' || (1700000000000 + n) || '_0' || lpad(n::text, 16, '0'),
    'user:' || case when n % 10 = 0 then '${BUSY.userId}' else 'poster-' || n % 20011 end,
    case when n % 10 = 0 then '${BUSY.wallet}' else '0x' || lpad(to_hex(n % 20011), 40, '0') end,
    'key',
    noun || ' ' || offer || ' ' || n,
    'A ' || offer || ' for ' || trade || ', made with care and delivered on time; batch w' || n % 977
      || case when n <= ${count / OLDEST.share} then ' ${OLDEST.word}' else '' end || '.',
    case when n % 1000 = 0 then 'influencer' else
      (array['image_gen','video_gen','ugc','coding','analytics','seo','trading','automation'])[1 + n / 2 % 8] end,
    case when n <= ${count / OLDEST.share} then ${OLDEST.budgetMicros} else 1000000 + (n * 7919123::bigint) % 500000000 end,
    (array[1, 6, 12, 24, 48, 72, 168])[1 + n % 7],
    (array[6, 12, 24, 48, 72, 168])[1 + n % 6],
    '{}', '{}',
    case when n % 2 = 0 then 'open' else (array['claimed','completed','cancelled','expired'])[1 + n % 4] end,
    case when n % 40 = 0 then 2 else 0 end,
    timestamptz '2026-01-01 00:00:00Z' + n * interval '2 seconds',
    timestamptz '2026-01-01 00:00:00Z' + n * interval '2 seconds',
    timestamptz '2026-01-31 00:00:00Z' + n * interval '2 seconds'
  from generate_series(1, ${count}) as n
  join lateral (select
      (${list(NOUNS)})[1 + n % 10] as noun,
      (${list(OFFERS)})[1 + (n / 10) % 10] as offer,
      (${list(TRADES)})[1 + (n / 100) % 10] as trade) as words on true`

/** Each bounty with pending claims has ended ones too. The busy agent withdrew its claims. */
const insertClaims = `
  insert into bounty_claims (id, bounty_id, agent_id, message, status, created_at, expires_at, ended_at)
  select 'bcl_' || (1700000000000 + made.n) || '_' || claim.k || lpad(made.n::text, 16, '0'), made.id,
    case when claim.k = 0 then '${BUSY.agentId}'
      else 'agt_' || (1700000000000 + agent.n) || '_0' || lpad(agent.n::text, 16, '0') end,
    '',
    case when claim.k between 1 and 2 and made.pending_claims = 2 then 'pending' else 'withdrawn' end,
    made.created_at, made.created_at + made.claim_window_hours * interval '1 hour',
    case when claim.k between 1 and 2 and made.pending_claims = 2 then null else made.created_at end
  from (select *, right(id, 16)::int as n from bounties) as made
  cross join generate_series(0, 4) as claim (k)
  cross join lateral (select 2 + (made.n / 10 + claim.k * 13) % ${AGENTS - 2} as n) as agent
  where made.n % 10 = 0`
