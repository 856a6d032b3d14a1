-- People, their wallets, agents and the secrets kept for them.

create extension if not exists pg_trgm;

create table users (
  idp_user_id text primary key check (length(idp_user_id) between 1 and 255),
  username text check (length(username) between 1 and 64),
  display_name text check (length(display_name) <= 50),
  twitter_username text check (length(twitter_username) <= 64),
  google_email text check (length(google_email) <= 320),
  avatar_url text check (length(avatar_url) <= 2048),
  bio text check (length(bio) <= 280),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- One wallet speaks for one person: the provider's newest word wins.
create table user_wallets (
  wallet_key text primary key check (length(wallet_key) between 32 and 44),
  idp_user_id text not null references users (idp_user_id),
  chain text not null check (chain in ('solana', 'base')),
  address text not null check (length(address) between 32 and 44),
  -- When the provider was last asked and said so; an older answer changes nothing.
  vouched_at timestamptz not null,
  check ((chain = 'base') = (wallet_key ~ '^0x[0-9a-f]{40}$'))
);
create index user_wallets_by_user on user_wallets (idp_user_id);

create table agents (
  id text primary key check (id ~ '^agt_[0-9]+_[0-9a-z]{17}$'),
  name text not null check (length(name) between 3 and 40),
  -- The name as it is compared: look-alikes, case and separators folded away.
  folded_name text not null,
  slug text not null check (length(slug) between 1 and 80),
  description text not null check (length(description) between 10 and 500),
  capabilities text[] not null check (cardinality(capabilities) <= 12),
  ai_models text[] not null check (cardinality(ai_models) <= 10),
  avatar_url text check (length(avatar_url) <= 2048),
  endpoint_url text check (length(endpoint_url) <= 2048),
  -- An owner is a person, or a wallet no person has linked yet; found once, it stays (trigger below).
  owner_user_id text references users (idp_user_id),
  owner_wallet text check (length(owner_wallet) between 32 and 44),
  twitter_username text check (length(twitter_username) <= 64),
  verified integer not null default 0 check (verified in (0, 1)),
  marketable boolean not null generated always as (owner_user_id is not null or owner_wallet is not null) stored,
  payout_chain text check (payout_chain in ('solana', 'base')),
  payout_wallet text check (length(payout_wallet) between 32 and 44),
  payout_address_base text check (payout_address_base ~ '^0x[0-9a-f]{40}$'),
  api_key_fingerprint bytea not null check (octet_length(api_key_fingerprint) = 32),
  api_key_sealed bytea not null,
  api_key_hint text not null check (length(api_key_hint) = 4),
  webhook_secret_sealed bytea,
  total_orders integer not null default 0 check (total_orders >= 0),
  completed_orders integer not null default 0 check (completed_orders between 0 and total_orders),
  rating_sum integer not null default 0 check (rating_sum >= 0),
  rating_count integer not null default 0 check (rating_count >= 0),
  service_count integer not null default 0 check (service_count >= 0),
  token_mint text check (length(token_mint) between 32 and 44),
  featured_rank integer check (featured_rank > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  search tsvector not null generated always as (
    setweight(to_tsvector('simple', name), 'A') || setweight(to_tsvector('english', description), 'B')
  ) stored,
  constraint agents_slug unique (slug),
  constraint agents_folded_name unique (folded_name),
  constraint agents_api_key unique (api_key_fingerprint),
  -- A secret exists once an endpoint was ever set; it outlives the endpoint.
  check (endpoint_url is null or webhook_secret_sealed is not null)
);

-- Lists show only agents somebody answers for, so every list index is partial.
create index agents_popular on agents (completed_orders desc, id desc) where marketable;
create index agents_with_services on agents (completed_orders desc, id desc) where marketable and service_count > 0;
create index agents_tokenized on agents (completed_orders desc, id desc) where marketable and token_mint is not null;
create index agents_newest on agents (created_at desc, id desc) where marketable;
create index agents_rated on agents (
  ((rating_sum + 20.0::float8) / (rating_count + 5)) desc, id desc
) where marketable;
create index agents_featured on agents (featured_rank, id) where marketable and featured_rank is not null;
create index agents_by_owner_user on agents (owner_user_id, created_at desc, id desc) where owner_user_id is not null;
create index agents_by_owner_wallet on agents (owner_wallet, created_at desc, id desc) where owner_wallet is not null;
create index agents_search on agents using gin (search) where marketable;
create index agents_name_like on agents using gin (lower(name) gin_trgm_ops) where marketable;
create index agents_capabilities on agents using gin (capabilities) where marketable;
create index agents_models on agents using gin (ai_models) where marketable;

create function keep_owner() returns trigger language plpgsql as $$
begin
  if old.owner_wallet is not null and new.owner_wallet is distinct from old.owner_wallet then
    raise exception 'an agent''s owner wallet stays' using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  if old.owner_user_id is not null and new.owner_user_id is distinct from old.owner_user_id then
    raise exception 'an agent''s owner stays' using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  return new;
end $$;
create trigger agents_owner_stays before update of owner_wallet, owner_user_id on agents
  for each row execute function keep_owner();

-- The server wallet of an agent: a random key, sealed.
create table agent_wallets (
  agent_id text not null references agents (id),
  chain text not null check (chain in ('solana', 'base')),
  address text not null unique,
  secret_sealed bytea not null,
  created_at timestamptz not null,
  primary key (agent_id, chain)
);
