-- What agents offer, and the whole life of an order.

create table listings (
  id text primary key check (id ~ '^svc_[0-9]+_[0-9a-z]{17}$'),
  agent_id text not null references agents (id),
  slug text not null check (length(slug) between 1 and 120),
  category text not null check (category in (
    'image_gen', 'video_gen', 'ugc', 'influencer', 'brand_content', 'coding',
    'analytics', 'seo', 'trading', 'automation', 'consulting', 'custom'
  )),
  title text not null check (length(title) between 5 and 80),
  description text not null check (length(description) between 40 and 1000),
  price_type text not null check (price_type in ('fixed', 'quote', 'weekly', 'monthly')),
  price_micros bigint check (price_micros > 0),
  turnaround_hours integer not null check (turnaround_hours between 1 and 720),
  deliverables text[] not null check (cardinality(deliverables) <= 10),
  demo_url text check (length(demo_url) <= 2048),
  quota_limit integer not null check (quota_limit between 0 and 100000),
  max_revisions integer not null check (max_revisions between 0 and 10),
  requirement_fields jsonb not null check (jsonb_typeof(requirement_fields) = 'array'),
  active boolean not null,
  -- Whether its agent has an owner: kept here, so that lists read one table.
  marketable boolean not null,
  total_orders integer not null default 0 check (total_orders >= 0),
  completed_orders integer not null default 0 check (completed_orders between 0 and total_orders),
  -- Distinct buyers of settled orders: one friend buying a hundred times counts once.
  settled_buyers integer not null default 0 check (settled_buyers between 0 and completed_orders),
  rating_sum integer not null default 0 check (rating_sum >= 0),
  rating_count integer not null default 0 check (rating_count >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  search tsvector not null generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('simple', title), 'A')
    || setweight(to_tsvector('english', description), 'B') || setweight(to_tsvector('simple', replace(category, '_', ' ')), 'C')
  ) stored,
  constraint listings_slug unique (agent_id, slug),
  constraint listings_price check (price_type = 'quote' or price_micros is not null),
  constraint listings_quota check (price_type not in ('weekly', 'monthly') or quota_limit > 0)
);
create index listings_of_agent on listings (agent_id, created_at desc, id desc);
create index listings_popular on listings (settled_buyers desc, id desc) where active and marketable;
create index listings_newest on listings (created_at desc, id desc) where active and marketable;
create index listings_cheapest on listings (price_micros, id) where active and marketable and price_micros is not null;
create index listings_rated on listings (((rating_sum + 20.0::float8) / (rating_count + 5)) desc, id desc)
  where active and marketable;
create index listings_fastest on listings (turnaround_hours, id) where active and marketable;
create index listings_in_category on listings (category, settled_buyers desc, id desc) where active and marketable;
create index listings_search on listings using gin (search) where active and marketable;
create index listings_title_like on listings using gin (lower(title) gin_trgm_ops) where active and marketable;

create table orders (
  id text primary key check (id ~ '^ord_[0-9]+_[0-9a-z]{17}$'),
  listing_id text not null references listings (id),
  agent_id text not null references agents (id),
  -- Who ordered: `user:…`, `wallet:…` or `agent:…`.
  buyer text not null check (buyer ~ '^(user|wallet|agent):.' and length(buyer) <= 300),
  -- A wallet that the buyer has proven to be theirs; it may pay, and money goes back to who paid.
  client_wallet text check (length(client_wallet) between 32 and 44),
  status text not null check (status in (
    'pending_quote', 'quoted', 'accepted', 'paid', 'in_progress', 'delivered',
    'revision_requested', 'disputed', 'completed', 'cancelled'
  )),
  title text not null,
  brief text not null check (length(brief) <= 3000),
  reference_urls text[] not null check (cardinality(reference_urls) <= 5),
  reference_images text[] not null check (cardinality(reference_images) <= 3),
  requirement_answers jsonb not null check (jsonb_typeof(requirement_answers) = 'object'),
  price_type text not null check (price_type in ('fixed', 'quote', 'weekly', 'monthly')),
  turnaround_hours integer not null check (turnaround_hours between 1 and 720),
  max_revisions integer not null check (max_revisions between 0 and 10),
  revision_count integer not null check (revision_count >= 0),
  is_private boolean not null,
  payment_method text check (payment_method in ('x402')),
  price_micros bigint check (price_micros > 0 and price_micros <= 1000000000000),
  quote_message text check (length(quote_message) <= 2000),
  -- Until when the price holds: of a quote, and once it was accepted.
  price_until timestamptz,
  -- A transfer that was named and is not settled enough to count; and what was wrong with the last one.
  pending_network text,
  pending_reference text,
  -- The wallets that may have made it.
  pending_payers text[],
  pending_since timestamptz,
  payment_error text check (length(payment_error) <= 300),
  payment_network text,
  payment_reference text,
  paid_at timestamptz,
  deliver_by timestamptz,
  delivered_at timestamptz,
  review_ends_at timestamptz,
  -- While the review's clock stands still: what is left of it.
  review_left_ms bigint check (review_left_ms >= 0),
  -- What the buyer last asked for: the feedback of a revision, the reason of a dispute.
  complaint text check (length(complaint) <= 2000),
  closed_at timestamptz,
  outcome text check (outcome in ('released', 'refunded', 'split', 'unpaid')),
  -- When it moves by itself unless somebody acts before.
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint orders_priced check (status in ('pending_quote', 'cancelled') or price_micros is not null),
  constraint orders_paid check (
    status in ('pending_quote', 'quoted', 'accepted', 'cancelled')
    or (payment_reference is not null and payment_network is not null and paid_at is not null and deliver_by is not null)
  ),
  constraint orders_delivered check (
    status not in ('delivered', 'revision_requested', 'disputed') or delivered_at is not null
  ),
  constraint orders_in_review check ((status = 'delivered') = (review_ends_at is not null)),
  constraint orders_review_stands check (status not in ('revision_requested', 'disputed') or review_left_ms is not null),
  constraint orders_closed check ((status in ('completed', 'cancelled')) = (closed_at is not null)),
  constraint orders_outcome check ((closed_at is null) = (outcome is null)),
  constraint orders_ended check (status not in ('completed', 'cancelled') or due_at is null)
);
create index orders_of_buyer on orders (buyer, created_at desc, id desc);
create index orders_of_wallet on orders (client_wallet, created_at desc, id desc) where client_wallet is not null;
create index orders_of_agent on orders (agent_id, created_at desc, id desc);
create index orders_of_agent_in on orders (agent_id, status, created_at desc, id desc);
create index orders_of_listing on orders (listing_id, created_at desc);
create index orders_due on orders (due_at, id) where due_at is not null;
create index orders_pending_payment on orders (updated_at) where pending_reference is not null;
create unique index orders_by_payment on orders (payment_network, payment_reference)
  where payment_reference is not null;

-- Each delivery as it was made; a later one replaces, and the earlier ones stay to be read.
create table order_deliveries (
  order_id text not null references orders (id),
  n integer not null check (n > 0),
  note text check (length(note) <= 2000),
  items jsonb not null check (jsonb_typeof(items) = 'array' and jsonb_array_length(items) between 1 and 20),
  at timestamptz not null,
  primary key (order_id, n)
);

-- Every step of every order, in order: who did what. The states of an order are a path through its table.
create table order_steps (
  order_id text not null references orders (id),
  n integer not null check (n > 0),
  action text not null check (length(action) <= 32),
  from_status text not null,
  to_status text not null,
  actor text not null check (length(actor) <= 300),
  at timestamptz not null,
  primary key (order_id, n)
);

create table order_messages (
  id text primary key check (id ~ '^msg_[0-9]+_[0-9a-z]{17}$'),
  order_id text not null references orders (id),
  sender_type text not null check (sender_type in ('client', 'agent')),
  sender_name text not null check (length(sender_name) between 1 and 100),
  content text not null check (length(content) between 1 and 2000),
  created_at timestamptz not null
);
create index order_messages_of_order on order_messages (order_id, created_at desc, id desc);

create table reviews (
  id text primary key check (id ~ '^rev_[0-9]+_[0-9a-z]{17}$'),
  order_id text not null references orders (id),
  listing_id text not null references listings (id),
  agent_id text not null references agents (id),
  buyer text not null,
  rating integer not null check (rating between 1 and 5),
  comment text not null check (length(comment) <= 500),
  created_at timestamptz not null,
  constraint reviews_once unique (order_id)
);
create index reviews_of_agent on reviews (agent_id, created_at desc, id desc);
create index reviews_of_listing on reviews (listing_id, created_at desc, id desc);

-- Who has a settled order of a listing: the first one of each buyer counts.
create table listing_buyers (
  listing_id text not null references listings (id),
  buyer text not null,
  primary key (listing_id, buyer)
);

-- An agent without an address is owed all the same: its payout waits for one.
alter table payouts alter column payee drop not null;
-- The payment that must be final before this leaves; null when nothing stands behind it but our own books.
alter table payouts add column purpose text check (length(purpose) between 1 and 100);
-- What was decided and undone before it was signed; decided anew it begins another round.
alter table payouts drop constraint payouts_state_check;
alter table payouts add constraint payouts_state_check
  check (state in ('queued', 'held', 'numbered', 'signed', 'final', 'failed', 'withdrawn'));
alter table payouts add constraint payouts_payee check (payee is not null or state in ('failed', 'withdrawn'));
