-- A bounty is a task with a budget. Agents claim it, and its poster accepts one claim: that creates an order with 110 % of
-- the budget in escrow.

create table bounties (
  id text primary key check (id ~ '^bnty_[0-9]+_[0-9a-z]{17}$'),
  -- Who posted it: `user:…`, `wallet:…` or `agent:…`, and a wallet that they have proven to own.
  poster text not null check (poster ~ '^(user|wallet|agent):.' and length(poster) <= 300),
  client_wallet text not null check (length(client_wallet) between 32 and 44 or client_wallet = ''),
  client_proven_by text check (client_proven_by in ('key', 'solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- Empty, like the wallet, when the poster deleted their account.
  title text not null check (char_length(title) between 3 and 100 or title = ''),
  brief text not null check (char_length(brief) between 10 and 2000 or brief = ''),
  category text not null check (category in (
    'image_gen', 'video_gen', 'ugc', 'influencer', 'brand_content', 'coding',
    'analytics', 'seo', 'trading', 'automation', 'consulting', 'custom'
  )),
  budget_micros bigint not null check (budget_micros between 1000000 and 1000000000000),
  deadline_hours integer not null check (deadline_hours in (1, 6, 12, 24, 48, 72, 168)),
  claim_window_hours integer not null check (claim_window_hours in (6, 12, 24, 48, 72, 168)),
  reference_urls text[] not null check (cardinality(reference_urls) <= 5),
  reference_images text[] not null check (cardinality(reference_images) <= 3),
  status text not null check (status in ('open', 'claimed', 'completed', 'cancelled', 'expired')),
  -- The claims with status `pending`. Each statement that changes one changes this too.
  pending_claims integer not null default 0 check (pending_claims between 0 and 20),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  search tsvector not null generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('simple', title), 'A')
    || setweight(to_tsvector('english', brief), 'B') || setweight(to_tsvector('simple', replace(category, '_', ' ')), 'C')
  ) stored,
  constraint bounties_pending check (status = 'open' or pending_claims = 0)
);
-- One index per order of the list, with and without a category.
create index bounties_newest on bounties (status, created_at desc, id desc);
create index bounties_newest_in on bounties (category, status, created_at desc, id desc);
create index bounties_budget on bounties (status, budget_micros desc, id desc);
create index bounties_budget_in on bounties (category, status, budget_micros desc, id desc);
create index bounties_deadline on bounties (status, deadline_hours, id);
create index bounties_deadline_in on bounties (category, status, deadline_hours, id);
create index bounties_search on bounties using gin (search, status);
create index bounties_of_poster on bounties (poster, id desc);
create index bounties_of_wallet on bounties (client_wallet, id desc) include (client_proven_by);
create index bounties_due on bounties (expires_at, id) where status = 'open';
create index bounties_open_of_poster on bounties (poster) where status = 'open';
-- With the budget: whether a transfer of a wallet could accept a claim of one of its open bounties is found in one row, also
-- when the wallet has many that cost more.
create index bounties_open_of_wallet on bounties (client_wallet, budget_micros) where status = 'open';

-- Some bounties with the words, in no order. Without the settings Postgres would read the table from its beginning for a
-- common word, past every bounty with another status.
create function find_bounties_with(words tsquery, wanted_status text, most integer)
  returns table (tid tid, id text, category text, budget_micros bigint, deadline_hours integer, created_at timestamptz)
  language sql stable
  set search_path = public, pg_temp
  set enable_seqscan = off
  set enable_indexscan = off
  as $$
    select ctid, id, category, budget_micros, deadline_hours, created_at from bounties
    where search @@ words and status = wanted_status limit most
  $$;

create table bounty_claims (
  id text primary key check (id ~ '^bcl_[0-9]+_[0-9a-z]{17}$'),
  bounty_id text not null references bounties (id),
  agent_id text not null references agents (id),
  message text not null check (char_length(message) <= 500),
  status text not null check (status in ('pending', 'accepted', 'rejected', 'withdrawn', 'expired')),
  created_at timestamptz not null,
  -- When it expires unless it is decided before.
  expires_at timestamptz not null check (expires_at > created_at),
  ended_at timestamptz,
  constraint bounty_claims_ended check ((status = 'pending') = (ended_at is null))
);
-- An agent has one claim at a time, and a bounty one accepted claim.
create unique index bounty_claims_open on bounty_claims (bounty_id, agent_id) where status in ('pending', 'accepted');
create unique index bounty_claims_accepted on bounty_claims (bounty_id) where status = 'accepted';
create index bounty_claims_of_bounty on bounty_claims (bounty_id, created_at, id);
create index bounty_claims_of_agent on bounty_claims (agent_id, bounty_id desc, created_at desc);
create index bounty_claims_due on bounty_claims (expires_at, id) where status = 'pending';

-- `packages/offers/src/bounties/states.ts` has the same transitions, and a test compares them.
create function check_bounty_transition() returns trigger language plpgsql as $$
begin
  if (old.status, new.status) not in (
    ('open', 'claimed'),
    ('open', 'cancelled'),
    ('open', 'expired'),
    ('claimed', 'completed'),
    ('claimed', 'cancelled'),
    ('completed', 'claimed'),
    ('completed', 'cancelled')
  ) then
    raise exception 'a bounty with status % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'bounties_transition';
  end if;
  return new;
end $$;
create trigger bounties_transition before update of status on bounties
  for each row when (old.status <> new.status) execute function check_bounty_transition();

create function check_claim_transition() returns trigger language plpgsql as $$
begin
  if (old.status, new.status) not in (
    ('pending', 'accepted'),
    ('pending', 'rejected'),
    ('pending', 'withdrawn'),
    ('pending', 'expired')
  ) then
    raise exception 'a claim with status % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'bounty_claims_transition';
  end if;
  return new;
end $$;
create trigger bounty_claims_transition before update of status on bounty_claims
  for each row when (old.status <> new.status) execute function check_claim_transition();

-- An order names its bounty.
alter table orders add foreign key (bounty_id) references bounties (id);
