import pg from 'pg'
import { fillWithAgents, NOUNS, TRADES } from './many-agents.ts'

const AGENTS = 2_000

/** What is offered, most of it common, some of it rare. */
export const OFFERS = [
  'logo design',
  'landing page copy',
  'product video',
  'code review',
  'sales dashboard',
  'keyword research',
  'trade signals',
  'web scraper',
  'pricing advice',
  'voiceover',
] as const

const CATEGORIES = [
  'image_gen',
  'brand_content',
  'video_gen',
  'coding',
  'analytics',
  'seo',
  'trading',
  'automation',
  'consulting',
  'custom',
] as const

const list = (words: readonly string[]) => `array['${words.join("','")}']`

/** Listings made by arithmetic alone, so that every run has the same. Indexes are built at the end, which is faster. */
export async function fillWithListings(databaseUrl: string, count: number, agents = AGENTS): Promise<void> {
  await fillWithAgents(databaseUrl, agents)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ indexname: string; indexdef: string }>(
      `select indexname, indexdef from pg_indexes where tablename = 'listings' and indexdef not like '%UNIQUE%'`,
    )
    for (const { indexname } of rows) await client.query(`drop index ${indexname}`)
    await client.query(insertListings(count, agents))
    await client.query(`set maintenance_work_mem = '256MB'`)
    for (const { indexdef } of rows) await client.query(indexdef)
    await client.query('vacuum analyze listings')
  } finally {
    await client.end()
  }
}

const insertListings = (count: number, agents: number) => `
  insert into listings (
    id, agent_id, slug, category, title, description, price_type, price_micros, turnaround_hours, deliverables,
    quota_limit, max_revisions, requirement_fields, active, marketable,
    total_orders, completed_orders, completed_buyers, rating_sum, rating_count, created_at, updated_at
  )
  select
    'svc_' || (1700000000000 + n) || '_0' || lpad(n::text, 16, '0'),
    seller.id,
    'listing-' || n,
    case when n % 1000 = 0 then 'influencer' else (${list(CATEGORIES)})[1 + n % 10] end,
    noun || ' ' || offer || ' ' || n,
    'A ' || offer || ' for ' || trade || ', made with care and delivered on time; batch w' || n % 977 || '.',
    case when n % 7 = 0 then 'quote' when n % 11 = 0 then 'monthly' else 'fixed' end,
    case when n % 70 = 0 then null else 1000000 + (n * 7919::bigint) % 500000000 end,
    1 + n % 200,
    array['one file'],
    10, 3, '[]',
    n % 20 <> 0,
    seller.marketable,
    (n * 7919::bigint) % 1000, (n * 7919::bigint) % 1000 / 2, (n * 7919::bigint) % 1000 / 4,
    (n % 5) * (n % 50), n % 50,
    timestamptz '2026-01-01 00:00:00Z' + n * interval '1 second',
    timestamptz '2026-01-01 00:00:00Z' + n * interval '1 second'
  from generate_series(1, ${count}) as n
  join lateral (select
      (${list(NOUNS)})[1 + n % 10] as noun,
      (${list(OFFERS)})[1 + n % 10] as offer,
      (${list(TRADES)})[1 + (n / 100) % 10] as trade) as words on true
  join (select id, marketable, row_number() over (order by id) - 1 as at from agents) as seller
    on seller.at = n % ${agents}`

const pick = <T>(from: readonly T[], at: number): T => from[at % from.length] as T

/** Common words, rare ones, synonyms, pieces of titles, several words, and what nobody has. */
export const searchesFor = (count: number, listings: number): string[] =>
  Array.from({ length: count }, (_, at) => {
    switch (at % 6) {
      case 0:
        return pick(OFFERS, at)
      case 1:
        return `${pick(NOUNS, at)} ${(at * 397) % listings}`
      case 2:
        return `${pick(OFFERS, at)} for ${pick(TRADES, at * 7)}`
      case 3:
        return pick(NOUNS, at).slice(1, 5)
      case 4:
        return `w${(at * 13) % 977}`
      default:
        return `nobody has this ${at}`
    }
  })
