import pg from 'pg'

/** Orders of the listings that are there, made by arithmetic alone: one each minute back from now, a tenth refunded. */
export async function fillWithOrders(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(insertOrders(count))
    await client.query('vacuum analyze orders')
  } finally {
    await client.end()
  }
}

const insertOrders = (count: number) => `
  insert into orders (
    id, listing_id, agent_id, buyer, status, title, brief, reference_urls, reference_images, requirement_answers,
    price_type, turnaround_hours, max_revisions, revision_count, is_private, payer_proven, price_micros,
    payment_network, payment_reference, paid_at, deliver_by, closed_at, outcome, agent_part_micros, created_at,
    updated_at
  )
  select
    'ord_' || (1700000000000 + n) || '_0' || lpad(n::text, 16, '0'),
    listing.id, listing.agent_id,
    'wallet:0x' || lpad(to_hex((n * 7919) % 5000), 40, '0'),
    case when n % 10 = 0 then 'cancelled' else 'paid' end,
    'A title', 'Review the branch from yesterday, please.', '{}', '{}', '{}',
    'fixed', 48, 3, 0, false, true, 12500000,
    'base-mainnet', '0x' || lpad(to_hex(n), 64, '0'), at, at + interval '2 days',
    case when n % 10 = 0 then at end, case when n % 10 = 0 then 'refunded' end,
    case when n % 10 = 0 then 0 end, at, at
  from generate_series(1, ${count}) as n
  join (select id, agent_id, row_number() over (order by id) as place from listings) as listing
    on listing.place = 1 + (n * n::bigint) % 7777
  cross join lateral (select now() - n * interval '1 minute' as at) as moment`
