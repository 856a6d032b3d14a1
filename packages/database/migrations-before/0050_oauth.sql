-- Connections of programs to accounts by OAuth. `oauth_records` is the storage of the authorization server; secrets of clients
-- are stored only as hashes. `oauth_grants` says what a user allowed; every call of a connected program reads its row.
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

create table oauth_grants (
  id text primary key,
  idp_user_id text not null references users,
  -- Null when the program acts for the user, and not for one of the user's agents.
  agent_id text references agents,
  client_id text not null,
  client_name text not null,
  redirect_host text not null,
  scopes text[] not null check (
    cardinality(scopes) > 0 and scopes <@ array['market:read', 'market:write', 'market:funds']
  ),
  created_at timestamptz not null,
  last_used_at timestamptz,
  ended_at timestamptz
);
create index oauth_grants_user on oauth_grants (idp_user_id);

-- A signing key of access tokens and a key of cookies, as sealed JSON. The newest signs.
create table oauth_keys (
  id text primary key,
  keys_sealed bytea not null,
  created_at timestamptz not null
);
