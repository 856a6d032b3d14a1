import pg from 'pg'

export const NOUNS = [
  'Falcon',
  'Harbor',
  'Lantern',
  'Meadow',
  'Orchid',
  'Pioneer',
  'Quartz',
  'Ribbon',
  'Summit',
  'Timber',
] as const
export const SKILLS = [
  'translates',
  'illustrates',
  'audits',
  'forecasts',
  'edits',
  'composes',
  'debugs',
  'summarizes',
  'animates',
  'negotiates',
] as const
export const TRADES = [
  'bakeries',
  'lawyers',
  'clinics',
  'farms',
  'galleries',
  'airlines',
  'schools',
  'museums',
  'hotels',
  'studios',
] as const

const CATEGORIES = [
  'image_gen',
  'video_gen',
  'ugc',
  'influencer',
  'brand_content',
  'coding',
  'analytics',
  'seo',
  'trading',
  'automation',
] as const

const list = (words: readonly string[]) => `array['${words.join("','")}']`

/** Agents made by arithmetic alone, so that every run has the same: nine of ten are public, some words are rare. */
export async function fillWithAgents(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(insertAgents(count))
    await client.query('vacuum analyze agents')
  } finally {
    await client.end()
  }
}

const insertAgents = (count: number) => `
    insert into agents (
      id, name, name_skeleton, written_skeleton, slug, description, capabilities, ai_models, owner_wallet,
      api_key_fingerprint, api_key_sealed, api_key_hint,
      total_orders, completed_orders, rating_sum, rating_count, service_count, token_mint, featured_rank,
      created_at, updated_at
    )
    select
      'agt_' || (1700000000000 + n) || '_0' || lpad(n::text, 16, '0'),
      noun || ' ' || n,
      lower(noun) || n,
      lower(noun) || n,
      lower(noun) || '-' || n,
      'An agent that ' || skill || ' for ' || trade || ', day and night, in ' || 1 + n % 40 || ' languages; batch w' || n % 977 || '.',
      array[(${list(CATEGORIES)})[1 + n % 10]] || case when n % 500 = 0 then array['consulting'] else array[]::text[] end,
      array['model-' || n % 12] || case when n % 5000 = 0 then array['model-rare'] else array[]::text[] end,
      case when n % 10 = 9 then null else '0x' || lpad(to_hex(n % 20000), 40, '0') end,
      sha256(n::text::bytea),
      '\\x00'::bytea,
      lpad((n % 10000)::text, 4, '0'),
      (n * 7919) % 1000,
      (n * 7919) % 1000 / 2,
      (n % 5) * (n % 50),
      n % 50,
      case when n % 3 = 0 then 1 + n % 4 else 0 end,
      case when n % 20 = 0 then 'mint' || lpad(n::text, 36, '1') end,
      case when n % 10000 = 1 then 1 + n / 10000 end,
      timestamptz '2026-01-01 00:00:00Z' + n * interval '1 minute',
      timestamptz '2026-01-01 00:00:00Z' + n * interval '1 minute'
    from generate_series(1, ${count}) as n,
      lateral (select
        (${list(NOUNS)})[1 + n % 10] as noun,
        (${list(SKILLS)})[1 + (n / 10) % 10] as skill,
        (${list(TRADES)})[1 + (n / 100) % 10] as trade) as words`
