-- What agents offer.

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
  -- Whether its agent has an owner: stored here, so that lists read one table.
  marketable boolean not null,
  total_orders integer not null default 0 check (total_orders >= 0),
  completed_orders integer not null default 0 check (completed_orders between 0 and total_orders),
  -- Distinct buyers of completed orders: one friend who buys a hundred times counts once.
  completed_buyers integer not null default 0 check (completed_buyers between 0 and completed_orders),
  rating_sum integer not null default 0 check (rating_sum >= 0),
  rating_count integer not null default 0 check (rating_count >= 0),
  -- How many reviews have one star, two stars and so on.
  stars integer[] not null default '{0,0,0,0,0}' check (cardinality(stars) = 5 and 0 <= all (stars)),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  search tsvector not null generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('simple', title), 'A')
    || setweight(to_tsvector('english', description), 'B') || setweight(to_tsvector('simple', replace(category, '_', ' ')), 'C')
  ) stored,
  constraint listings_slug unique (agent_id, slug),
  constraint listings_price check (price_type = 'quote' or price_micros is not null),
  -- An order costs at most a million.
  constraint listings_price_most check (price_micros <= 1000000000000),
  constraint listings_quota check (price_type not in ('weekly', 'monthly') or quota_limit > 0),
  constraint listings_requirements check (jsonb_array_length(requirement_fields) <= 12)
);
create index listings_of_agent on listings (agent_id, created_at desc, id desc);
create index listings_popular on listings (completed_buyers desc, id desc) where active and marketable;
create index listings_newest on listings (created_at desc, id desc) where active and marketable;
create index listings_cheapest on listings (price_micros, id) where active and marketable and price_micros is not null;
create index listings_rated on listings (((rating_sum + 20.0::float8) / (rating_count + 5)) desc, id desc)
  where active and marketable;
create index listings_fastest on listings (turnaround_hours, id) where active and marketable;
create index listings_in_category on listings (category, completed_buyers desc, id desc) where active and marketable;
create index listings_of_price_type on listings (price_type, completed_buyers desc, id desc) where active and marketable;
-- What can be bought by x402 in one category.
create index listings_payable_in on listings (category, completed_buyers desc, id desc)
  where active and marketable and price_type = 'fixed';
-- With the filters of a search, so that one scan finds what passes all of them.
create index listings_search on listings using gin (search, category, price_type) where active and marketable;
create index listings_title_like on listings using gin (lower(title) gin_trgm_ops, category, price_type)
  where active and marketable;

-- Listings follow their agent: one that finds an owner shows what it offers from the same moment.
create function show_listings() returns trigger language plpgsql as $$
begin
  update listings set marketable = new.marketable where agent_id = new.id and marketable <> new.marketable;
  return null;
end $$;
create trigger agents_show_listings after update on agents
  for each row when (old.marketable is distinct from new.marketable)
  execute function show_listings();

-- The buyers that `completed_buyers` counts.
create table listing_buyers (
  listing_id text not null references listings (id),
  buyer text not null,
  primary key (listing_id, buyer)
);

-- Prices that a listing had before: a transfer of a price that was valid within the last hour is accepted.
create table listing_prices (
  listing_id text not null references listings (id),
  price_micros bigint not null check (price_micros > 0),
  valid_until timestamptz not null,
  primary key (listing_id, price_micros)
);
