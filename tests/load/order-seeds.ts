/** How an order stands: of a hundred ninety are settled, the others are on their way or were given up. */
const STATUS = `case
  when n % 10000 = 99 then 'accepted'
  when n % 100 < 90 then 'completed'
  when n % 100 < 95 then 'cancelled'
  when n % 100 < 97 then 'delivered'
  when n % 100 = 97 then 'in_progress'
  else 'quoted' end`

const BUYERS = 200_000
const PRICE = 25_000_000
const FEE = 2_500_000
const NETWORK = 'base-mainnet'
const STRIPES = 8

interface Seed {
  readonly count: number
  readonly sellers: number
  readonly firstMs: number
  readonly stepMs: number
}

/** The orders by number, with the names all tables know them by. */
export const seedOf = ({ count, sellers, firstMs, stepMs }: Seed): string => `
  select n, ms, status, listing_id, agent_id, title, to_timestamp(ms / 1000.0) as at,
    'ord_' || ms || '_0' || lpad(n::text, 16, '0') as id,
    '0x' || lpad(to_hex((n * 7919::bigint) % ${BUYERS}), 40, '0') as wallet,
    '0x' || md5(n::text) || md5('reference' || n) as reference,
    'pay_' || md5('payout' || n) as payout_id,
    status in ('completed', 'delivered', 'in_progress') as is_paid,
    to_timestamp(ms / 1000.0) + interval '31 days' as due_at,
    n % ${STRIPES} as stripe,
    n / ${sellers} as turn
  from generate_series(1, ${count}) as n
  cross join lateral (select (${firstMs} + n * ${stepMs}::float8)::bigint as ms, ${STATUS} as status) as drawn
  join (
    select id as listing_id, agent_id, title, row_number() over (order by id) - 1 as place from listings
  ) as listing on place = n % ${sellers}`

/** The steps of a life as far as the order came. */
const STEPS = `(values
  (1, 'pay', 'quoted', 'paid', array['completed', 'delivered', 'in_progress']),
  (2, 'start', 'paid', 'in_progress', array['in_progress']),
  (2, 'deliver', 'paid', 'delivered', array['completed', 'delivered']),
  (3, 'approve', 'delivered', 'completed', array['completed']),
  (1, 'cancel', 'quoted', 'cancelled', array['cancelled']),
  (1, 'accept', 'quoted', 'accepted', array['accepted'])
) as step (step, action, from_status, to_status, statuses)`

const EVENTS = `(values
  (1, 'order.created', array['completed', 'cancelled', 'delivered', 'in_progress', 'quoted', 'accepted']),
  (2, 'order.paid', array['completed', 'delivered', 'in_progress']),
  (3, 'order.completed', array['completed'])
) as happening (place, event, statuses)`

/** What moved: in from the chain to escrow, on to the payout and the fee, and out again. */
const JOURNALS = `(values
  (0, 'transfer.claimed', 2, array['completed', 'delivered', 'in_progress']),
  (1, 'payout.requested', 2, array['completed']),
  (2, 'order.fee', 2, array['completed']),
  (3, 'payout.sent', 2, array['completed'])
) as journal (k, reason, move_count, statuses)`

const JOURNAL_ID = `'jrn_' || ms || '_' || k || lpad(n::text, 16, '0')`
const JOURNAL_AT = `at + k * interval '1 hour'`
const ESCROW = `'escrow:${NETWORK}:order:' || id`
const PAYABLE = `'payable:${NETWORK}:' || payout_id`
const WORLD = `'world:${NETWORK}:' || stripe`
const FEES = `'fees:${NETWORK}:' || stripe`

const MOVES = `(values (1), (2)) as side (side)`
const ACCOUNT = `case k * 2 + side
  when 1 then ${ESCROW} when 2 then ${WORLD} when 3 then ${ESCROW} when 4 then ${PAYABLE}
  when 5 then ${ESCROW} when 6 then ${FEES} when 7 then ${PAYABLE} else ${WORLD} end`
const AMOUNT = `case k * 2 + side
  when 1 then ${PRICE} when 2 then -${PRICE} when 3 then -${PRICE - FEE} when 4 then ${PRICE - FEE}
  when 5 then -${FEE} when 6 then ${FEE} when 7 then -${PRICE - FEE} else ${PRICE - FEE} end`

const ACCOUNTS = `
  (id, kind, network, subject, may_be_negative, balance_micros, created_at, updated_at)
  select ${ESCROW}, 'escrow', '${NETWORK}', 'order:' || id, false,
    case status when 'completed' then 0 else ${PRICE} end, at, at from seed where is_paid
  union all
  select ${PAYABLE}, 'payable', '${NETWORK}', payout_id, false, 0, at, at from seed where status = 'completed'
  union all
  select ${WORLD}, 'world', '${NETWORK}', stripe::text, true,
    -sum(case status when 'completed' then ${FEE} else ${PRICE} end), min(at), max(at)
  from seed where is_paid group by stripe
  union all
  select ${FEES}, 'fees', '${NETWORK}', stripe::text, false, count(*) * ${FEE}, min(at), max(at)
  from seed where status = 'completed' group by stripe`

const ORDERS = `
  (id, listing_id, agent_id, buyer, client_wallet, status, title, brief, reference_urls, reference_images,
    requirement_answers, price_type, turnaround_hours, max_revisions, revision_count, is_private, payer_proven,
    price_micros, payment_network, payment_reference, paid_at,
    deliver_by, delivered_at, review_ends_at, closed_at, outcome, agent_part_micros, due_at, created_at, updated_at)
  select id, listing_id, agent_id, 'wallet:' || wallet, wallet, status, title,
    'Review the branch from yesterday, please.', '{}', '{}', '{}', 'fixed', 48, 3, 0, false, true, ${PRICE},
    case when is_paid then '${NETWORK}' end, case when is_paid then reference end, case when is_paid then at end,
    case when is_paid then due_at end, case when status in ('completed', 'delivered') then at end,
    case status when 'delivered' then due_at end, case when status in ('completed', 'cancelled') then at end,
    case status when 'completed' then 'released' when 'cancelled' then 'unpaid' end,
    case status when 'completed' then ${PRICE} when 'cancelled' then 0 end,
    case when status in ('delivered', 'in_progress') then due_at end, at, at
  from seed`

/** What each table holds of the orders, drawn from the table `seed`. */
export const SEEDED: Readonly<Record<string, string>> = {
  payment_intents: `(id, purpose_kind, purpose_id, network, reference, payers, due_micros, not_before, status, created_at,
      checked_at)
    select 'int' || substr(id, 4), 'order', id, '${NETWORK}', reference, array[wallet], ${PRICE}, at,
      case status when 'accepted' then 'waiting' else 'confirmed' end, at, at
    from seed where status = 'accepted' or is_paid`,
  ledger_moves: `(journal_id, n, account_id, amount_micros, network, at)
    select ${JOURNAL_ID}, side, ${ACCOUNT}, ${AMOUNT}, '${NETWORK}', ${JOURNAL_AT}
    from seed join ${JOURNALS} on status = any(statuses) cross join ${MOVES}`,
  ledger_journals: `(id, key, reason, subject, agent_id, network, move_count, at)
    select ${JOURNAL_ID}, reason || ':' || case reason when 'transfer.claimed' then '${NETWORK}:' || reference
        when 'order.fee' then id else payout_id end || ':' || ms, reason,
      case k when 0 then 'order:' || id else id end, case k when 1 then agent_id end,
      '${NETWORK}', move_count, ${JOURNAL_AT}
    from seed join ${JOURNALS} on status = any(statuses)`,
  orders: ORDERS,
  order_steps: `(order_id, n, action, from_status, to_status, role, actor, at)
    select id, step, action, from_status, to_status,
      case when action in ('start', 'deliver') then 'provider' else 'buyer' end,
      case when action in ('start', 'deliver') then 'agent:' || agent_id else 'wallet:' || wallet end, at
    from seed join ${STEPS} on status = any(statuses)`,
  events: `(agent_id, seq, at, event, order_id, data)
    select agent_id, turn * 3 + place, at, event, id,
      jsonb_build_object('status', status, 'service_title', title)
    from seed join ${EVENTS} on status = any(statuses)`,
  ledger_accounts: ACCOUNTS,
  transfers: `(network, reference, purpose, payer, amount_micros, due_micros, block_height, block_hash,
      happened_at, state, checked_at, created_at)
    select '${NETWORK}', reference, 'order:' || id, wallet, ${PRICE}, ${PRICE}, n, reference, at,
      case when n % 1000 = 0 then 'seen' else 'final' end, at, at
    from seed where is_paid`,
  payouts: `(id, network, kind, subject, purpose, payee, amount_micros, state, round, final_reference,
      created_at, updated_at, due_at)
    select payout_id, '${NETWORK}', 'payout', id, 'order:' || id, wallet, ${PRICE - FEE},
      case when n % 1000 = 1 then 'queued' else 'final' end, 1,
      case when n % 1000 <> 1 then reference end, at, at, due_at
    from seed where status = 'completed'`,
  event_counters: `(agent_id, last_seq)
    select agent_id, (max(turn) + 1) * 3 from seed group by agent_id`,
}
