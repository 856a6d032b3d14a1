-- Users, their wallets, agents, and programs that are connected by OAuth.

create table users (
  idp_user_id text primary key check (length(idp_user_id) between 1 and 255),
  username text check (length(username) between 1 and 64),
  display_name text check (length(display_name) <= 50),
  twitter_username text check (length(twitter_username) <= 64),
  google_email text check (length(google_email) <= 320),
  avatar_url text check (length(avatar_url) <= 2048),
  bio text check (length(bio) <= 280),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A deleted account keeps its row, because agents and orders refer to the user's id, and no personal data.
  deleted_at timestamptz,
  constraint users_deleted check (
    deleted_at is null
    or (username is null and display_name is null and twitter_username is null and google_email is null
      and avatar_url is null and bio is null)
  )
);

-- A wallet belongs to one user. The newest answer of the identity provider decides.
create table user_wallets (
  wallet_key text primary key check (length(wallet_key) between 32 and 44),
  idp_user_id text not null references users (idp_user_id),
  chain text not null check (chain in ('solana', 'base')),
  address text not null check (length(address) between 32 and 44),
  -- When the provider last confirmed it. An older answer changes nothing.
  verified_at timestamptz not null,
  check ((chain = 'base') = (wallet_key ~ '^0x[0-9a-f]{40}$'))
);
create index user_wallets_by_user on user_wallets (idp_user_id);

create table agents (
  id text primary key check (id ~ '^agt_[0-9]+_[0-9a-z]{17}$'),
  name text not null check (length(name) between 3 and 40),
  -- Two names that look alike are one name: both skeletons of UTS-39 (packages/identity/src/names) are unique.
  name_skeleton text not null,
  written_skeleton text not null,
  -- When the name changed last, and the name before, which the owner may restore.
  renamed_at timestamptz,
  previous_name text,
  slug text not null check (length(slug) between 1 and 80),
  description text not null check (length(description) between 10 and 500),
  capabilities text[] not null check (cardinality(capabilities) <= 12),
  ai_models text[] not null check (cardinality(ai_models) <= 10),
  avatar_url text check (length(avatar_url) <= 2048),
  twitter_username text check (length(twitter_username) <= 64),
  verified integer not null default 0 check (verified in (0, 1)),
  featured_rank integer check (featured_rank > 0),

  -- The owner is a user, or a wallet that no user has linked yet. Once set, it stays (trigger below).
  owner_user_id text references users (idp_user_id),
  owner_wallet text check (length(owner_wallet) between 32 and 44),
  -- How the owner wallet was proven: by its private key, which is the same on every EVM network, or only on one network, by
  -- its contract or by a transfer.
  owner_proven_by text,
  -- Set when a user's agent gets its owner wallet later: until then the worker does not act on signatures of that wallet.
  owner_wallet_effective_at timestamptz,
  marketable boolean not null generated always as (owner_user_id is not null or owner_wallet is not null) stored,

  api_key_fingerprint bytea not null check (octet_length(api_key_fingerprint) = 32),
  api_key_sealed bytea not null,
  api_key_hint text not null check (length(api_key_hint) = 4),
  -- When the API key of the registration was replaced. From then on a repeated paid registration returns no key.
  api_key_replaced_at timestamptz,
  endpoint_url text check (length(endpoint_url) <= 2048),
  -- When this endpoint_url first responded with 2xx. Until then its owner is not known to want webhooks there.
  endpoint_proven_at timestamptz,
  webhook_secret_sealed bytea,
  -- The secret before it. For an hour, webhooks are signed with it too.
  previous_webhook_secret_sealed bytea,
  webhook_secret_replaced_at timestamptz,

  payout_chain text check (payout_chain in ('solana', 'base')),
  payout_wallet text check (length(payout_wallet) between 32 and 44),
  payout_address_base text check (payout_address_base ~ '^0x[0-9a-f]{40}$'),
  payout_by_owner_only boolean not null default false,
  -- An API key that leaked must not redirect payouts: a change of the payout settings waits 24 hours
  -- (packages/identity/src/agents/payout). The pending settings are complete, and take effect 24 hours after `since`.
  pending_payout_chain text,
  pending_payout_wallet text,
  pending_payout_address_base text,
  pending_payout_since timestamptz,
  pending_payout_by text,

  token_mint text check (length(token_mint) between 32 and 44),
  identity_mint text check (char_length(identity_mint) between 32 and 44),

  total_orders integer not null default 0 check (total_orders >= 0),
  completed_orders integer not null default 0 check (completed_orders between 0 and total_orders),
  rating_sum integer not null default 0 check (rating_sum >= 0),
  rating_count integer not null default 0 check (rating_count >= 0),
  -- How many reviews have one star, two stars and so on.
  stars integer[] not null default '{0,0,0,0,0}' check (cardinality(stars) = 5 and 0 <= all (stars)),
  service_count integer not null default 0 check (service_count >= 0),

  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When the API key of an agent without an owner was last used, written at most once an hour: a name that nobody uses any
  -- more becomes free.
  last_seen_at timestamptz not null default now(),
  -- Its owner deleted the account. A user who comes back opens the agents again.
  closed_at timestamptz,
  search tsvector not null generated always as (
    setweight(to_tsvector('simple', name), 'A') || setweight(to_tsvector('english', description), 'B')
  ) stored,

  constraint agents_slug unique (slug),
  constraint agents_name_skeleton unique (name_skeleton),
  constraint agents_written_skeleton unique (written_skeleton),
  constraint agents_renamed check (
    previous_name is null or (renamed_at is not null and length(previous_name) between 3 and 40)
  ),
  constraint agents_owner_proven_by check (
    owner_proven_by is null
    or owner_wallet is not null and owner_proven_by in ('key', 'solana-mainnet', 'base-mainnet', 'alt-mainnet')
  ),
  constraint agents_api_key unique (api_key_fingerprint),
  -- A secret exists once an endpoint was ever set; it outlives the endpoint.
  check (endpoint_url is null or webhook_secret_sealed is not null),
  constraint agents_endpoint_proven check (endpoint_proven_at is null or endpoint_url is not null),
  constraint agents_previous_webhook_secret check (
    (previous_webhook_secret_sealed is null) = (webhook_secret_replaced_at is null)
  ),
  constraint agents_payout_by_owner_only check (
    not payout_by_owner_only
    or ((owner_user_id is not null or owner_wallet is not null) and pending_payout_by is distinct from 'agent')
  ),
  constraint agents_pending_payout check (
    (pending_payout_since is null) = (pending_payout_by is null)
    and (pending_payout_since is not null
      or num_nonnulls(pending_payout_chain, pending_payout_wallet, pending_payout_address_base) = 0)
    and pending_payout_by in ('agent', 'owner')
    and pending_payout_chain in ('solana', 'base')
    and length(pending_payout_wallet) between 32 and 44
    and pending_payout_address_base ~ '^0x[0-9a-f]{40}$'
  ),
  constraint agents_pending_payout_differs check (
    pending_payout_since is null
    or (pending_payout_chain, pending_payout_wallet, pending_payout_address_base)
      is distinct from (payout_chain, payout_wallet, payout_address_base)
  )
);

-- Lists show only agents that have an owner, so every list index is partial.
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
  -- An owner wallet can sign for the server wallet, so a user's agent gets only a wallet of that user.
  if old.owner_user_id is not null and old.owner_wallet is null and new.owner_wallet is not null
    and not exists (
      select from user_wallets where wallet_key = new.owner_wallet and idp_user_id = new.owner_user_id
    ) then
    raise exception 'a user''s agent gets only a linked wallet as owner wallet'
      using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  -- A stolen role could link a wallet. The owner has a day to see it, whatever the caller writes.
  new.owner_wallet_effective_at := case
    when old.owner_user_id is not null and old.owner_wallet is null and new.owner_wallet is not null
    then clock_timestamp() + interval '24 hours' else old.owner_wallet_effective_at end;
  -- A contract of the same address on another network can belong to somebody else. A key is the same everywhere.
  if old.owner_wallet is not null and new.owner_proven_by is distinct from old.owner_proven_by
    and new.owner_proven_by is distinct from 'key' then
    raise exception 'how an agent''s owner wallet was proven stays'
      using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  return new;
end $$;
create trigger agents_owner_stays
  before update of owner_wallet, owner_user_id, owner_proven_by, owner_wallet_effective_at on agents
  for each row execute function keep_owner();

-- A setting is removed, or becomes what was pending, or is the first one of an agent that nobody owns.
create function may_set_payout(was text, becomes text, pending text, is_pending boolean, is_owned boolean)
  returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
  select becomes is null or becomes is not distinct from was or (is_pending and becomes is not distinct from pending)
    or (was is null and not is_owned)
$$;

create function check_payout_settings() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  is_pending boolean := old.pending_payout_since is not null;
  is_owned boolean := old.owner_user_id is not null or old.owner_wallet is not null;
begin
  if not may_set_payout(old.payout_chain, new.payout_chain, old.pending_payout_chain, is_pending, is_owned)
    or not may_set_payout(old.payout_wallet, new.payout_wallet, old.pending_payout_wallet, is_pending, is_owned)
    or not may_set_payout(
      old.payout_address_base, new.payout_address_base, old.pending_payout_address_base, is_pending, is_owned) then
    raise exception 'the payout settings of % change without a pending change', old.id
      using errcode = 'insufficient_privilege', constraint = 'agents_payout_waits';
  end if;
  return new;
end $$;
create trigger agents_payout_waits before update of payout_chain, payout_wallet, payout_address_base on agents
  for each row when (current_user in ('market_api', 'market_worker')) execute function check_payout_settings();

-- The 24 hours of a pending change start when it is written. Otherwise a role could write a change that began yesterday. The
-- minute allows for clocks that differ; a clock that was moved ahead for development only waits longer.
create function check_payout_wait() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.pending_payout_since < clock_timestamp() - interval '1 minute' then
    raise exception 'the pending payout change of % starts in the past', old.id
      using errcode = 'insufficient_privilege', constraint = 'agents_payout_wait_starts_now';
  end if;
  return new;
end $$;
create trigger agents_payout_wait_starts_now
  before update of pending_payout_chain, pending_payout_wallet, pending_payout_address_base, pending_payout_since on agents
  for each row when (
    current_user in ('market_api', 'market_worker') and new.pending_payout_since is not null
    and (new.pending_payout_chain, new.pending_payout_wallet, new.pending_payout_address_base, new.pending_payout_since)
      is distinct from
      (old.pending_payout_chain, old.pending_payout_wallet, old.pending_payout_address_base, old.pending_payout_since)
  ) execute function check_payout_wait();

-- Where an agent may be paid, as the worker has seen it: only the worker writes it (docs/decisions/0014). It pays an address from
-- `effective_at` on. An address stays, because a payout is sent to the one of its request.
create table payout_addresses (
  agent_id text not null references agents (id),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  address text not null check (length(address) between 32 and 44),
  seen_at timestamptz not null,
  effective_at timestamptz not null check (effective_at >= seen_at),
  primary key (agent_id, network, address)
);

-- Agents whose addresses may have changed, for the worker. The trigger adds a row with every change, whoever makes it.
create table payout_changes (
  id bigint generated always as identity primary key,
  agent_id text not null,
  due_at timestamptz not null default '-infinity'
);
create index payout_changes_due on payout_changes (due_at, id);

create function add_payout_change() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  insert into payout_changes (agent_id) values (new.id);
  return null;
end $$;
create trigger agents_payout_changes after insert or update of owner_user_id, owner_wallet, owner_proven_by, payout_wallet,
  payout_address_base, pending_payout_wallet, pending_payout_address_base on agents
  for each row execute function add_payout_change();

-- Signatures of owner wallets that confirm a payout address. The worker verifies them.
create table payout_confirmations (
  agent_id text not null references agents (id),
  -- The address as it was signed.
  address text not null check (length(address) between 1 and 64),
  signature text not null check (length(signature) <= 20000),
  signed_at_ms bigint not null,
  primary key (agent_id, signed_at_ms)
);

-- The storage of the OAuth authorization server. Secrets of clients are stored only as hashes.
create table oauth_records (
  model text not null,
  id text not null,
  -- Not jsonb, which rejects some texts that clients may send.
  payload json not null,
  grant_id text,
  created_at timestamptz not null,
  consumed_at timestamptz,
  expires_at timestamptz,
  primary key (model, id)
);
create index oauth_records_grant on oauth_records (grant_id) where grant_id is not null;
create index oauth_records_expiry on oauth_records (expires_at) where expires_at is not null;

-- What a user allowed a program. Every call of a connected program reads its row.
create table oauth_grants (
  id text primary key,
  idp_user_id text not null references users,
  -- Null when the program acts for the user, and not for one of the user's agents.
  agent_id text references agents,
  client_id text not null,
  client_name text not null,
  redirect_host text not null,
  scopes text[] not null check (
    cardinality(scopes) > 0 and scopes <@ array['market:read', 'market:write', 'market:funds', 'market:keys']
  ),
  created_at timestamptz not null,
  last_used_at timestamptz,
  ended_at timestamptz
);
create index oauth_grants_user on oauth_grants (idp_user_id);

-- What a program changed, for the list that is shown when its connection ends.
create table oauth_changes (
  grant_id text not null references oauth_grants on delete cascade,
  operation text not null,
  -- What was changed: the id of an order, a service, an agent.
  subject text not null,
  -- The names of the fields that were sent.
  fields text[] not null,
  changed_at timestamptz not null,
  primary key (grant_id, operation, subject, fields)
);

-- Sessions of browsers: of a user who signed in at the identity provider, or of a wallet, which only reads. The id is the
-- hash of the token in the cookie.
create table sessions (
  id text primary key check (length(id) = 43),
  idp_user_id text references users (idp_user_id),
  access_token_sealed bytea,
  access_expires_at timestamptz,
  -- Null where the provider issues none: then the session ends with the access token.
  refresh_token_sealed bytea,
  -- While one request refreshes the access token, others do not.
  refreshing_until timestamptz,
  wallet_key text check (length(wallet_key) between 32 and 44),
  wallet_chain text check (wallet_chain in ('solana', 'base')),
  wallet_address text check (length(wallet_address) between 32 and 44),
  wallet_proven_by text check (wallet_proven_by in ('key', 'solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- Of a smart wallet, whose contract is asked again whether it still accepts the signature.
  signature text check (length(signature) <= 20000),
  signed_at_ms bigint,
  checked_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  constraint sessions_of_user_or_wallet check (
    idp_user_id is not null and num_nonnulls(access_token_sealed, access_expires_at) = 2 and num_nonnulls(
      wallet_key, wallet_chain, wallet_address, wallet_proven_by, signature, signed_at_ms, checked_at) = 0
    or idp_user_id is null and num_nonnulls(wallet_key, wallet_chain, wallet_address, wallet_proven_by) = 4
      and num_nonnulls(access_token_sealed, access_expires_at, refresh_token_sealed, refreshing_until) = 0
  ),
  constraint sessions_of_contract check (
    num_nonnulls(signature, signed_at_ms, checked_at) = case when wallet_proven_by = 'key' or wallet_key is null then 0 else 3 end
  ),
  -- A wallet signs again after 12 hours.
  constraint sessions_of_wallet_end check (wallet_key is null or expires_at <= created_at + interval '12 hours')
);
create index sessions_user on sessions (idp_user_id) where idp_user_id is not null;
create index sessions_wallet on sessions (wallet_key) where wallet_key is not null;
create index sessions_expiry on sessions (expires_at);

-- A signing key of access tokens and a key of cookies, as sealed JSON. The newest signs.
create table oauth_keys (
  id text primary key,
  keys_sealed bytea not null,
  created_at timestamptz not null
);
