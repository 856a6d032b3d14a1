-- Operations of the agents' server wallets, their withdraw addresses, and the tokens of agents.

-- A user's agent gets no owner wallet afterwards: it could sign for the server wallet.
create or replace function keep_owner() returns trigger language plpgsql as $$
begin
  if old.owner_wallet is not null and new.owner_wallet is distinct from old.owner_wallet then
    raise exception 'an agent''s owner wallet stays' using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  if old.owner_user_id is not null and new.owner_user_id is distinct from old.owner_user_id then
    raise exception 'an agent''s owner stays' using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  if old.owner_user_id is not null and old.owner_wallet is null and new.owner_wallet is not null then
    raise exception 'a user''s agent gets no owner wallet'
      using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  -- A contract of the same address on another network can belong to somebody else. A key is the same everywhere.
  if old.owner_wallet is not null and new.owner_proven_by is distinct from old.owner_proven_by
    and new.owner_proven_by is distinct from 'key' then
    raise exception 'how an agent''s owner wallet was proven stays'
      using errcode = 'check_violation', constraint = 'agents_owner_stays';
  end if;
  return new;
end $$;
drop trigger agents_owner_stays on agents;
create trigger agents_owner_stays before update of owner_wallet, owner_user_id, owner_proven_by on agents
  for each row execute function keep_owner();

alter table agents add column identity_mint text check (char_length(identity_mint) between 32 and 44);

-- One thing that a server wallet does. The api adds rows; the worker checks, signs, sends and ends them.
create table wallet_operations (
  id text primary key check (id ~ '^wop_[0-9]+_[0-9a-z]{17}$'),
  agent_id text not null references agents (id),
  wallet text not null check (char_length(wallet) between 32 and 44),
  kind text not null check (kind in ('launch', 'identity', 'send', 'withdraw', 'export')),
  -- Who asked: `agent:…`, `user:…` or `wallet:…`.
  requested_by text not null check (requested_by ~ '^(user|wallet|agent):.' and length(requested_by) <= 300),

  -- Of a send or withdrawal. The amount is in lamports or micro-USDC; while it is null, it is everything.
  asset text check (asset in ('SOL', 'USDC')),
  destination text check (char_length(destination) between 32 and 44),
  amount bigint check (amount > 0),
  -- Of a launch or an identity mint.
  token_name text check (char_length(token_name) between 1 and 32),
  token_symbol text check (char_length(token_symbol) between 1 and 10),
  token_uri text check (char_length(token_uri) between 1 and 200),
  token_description text check (char_length(token_description) between 20 and 2000),
  token_image_url text check (char_length(token_image_url) between 1 and 2048),
  -- Of an export: the key to which the secret is sealed, and the result, which is deleted soon afterwards.
  public_key text check (char_length(public_key) between 40 and 200),
  exported_key text check (char_length(exported_key) <= 1000),

  -- The owner wallet's signature over this send or export. The worker verifies it again. It counts once.
  owner_wallet text,
  owner_signature text check (char_length(owner_signature) <= 20000),
  owner_signed_at_ms bigint,

  status text not null check (status in ('requested', 'signed', 'done', 'failed')),
  -- The signature of the transaction that took effect, and the mint that it created.
  reference text,
  mint text,
  failure text check (failure in (
    'underfunded', 'cap_exceeded', 'not_withdraw_address', 'owner_not_verified', 'bad_destination', 'rejected_on_chain',
    'bad_metadata', 'expired'
  )),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When the worker looks at it next.
  due_at timestamptz not null,
  constraint wallet_operations_kind check (
    (asset is not null) = (kind in ('send', 'withdraw'))
    and (destination is not null) = (kind in ('send', 'withdraw'))
    and (kind in ('send', 'withdraw') or amount is null)
    and (token_name is not null) = (kind in ('launch', 'identity'))
    and (token_symbol is not null) = (kind in ('launch', 'identity'))
    and (token_uri is not null) = (kind in ('launch', 'identity'))
    and (token_description is not null) = (kind = 'launch')
    and (token_image_url is not null) = (kind = 'launch')
    and (public_key is not null) = (kind = 'export')
    and (owner_signature is not null) = (kind in ('send', 'export'))
    and (owner_wallet is not null) = (kind in ('send', 'export'))
    and (owner_signed_at_ms is not null) = (kind in ('send', 'export'))
  ),
  constraint wallet_operations_result check (
    (reference is not null) = (status = 'done' and kind <> 'export')
    and (mint is not null) = (status = 'done' and kind in ('launch', 'identity'))
    and (exported_key is null or (status = 'done' and kind = 'export'))
    and (failure is not null) = (status = 'failed')
  )
);
-- A wallet does one thing at a time, so that two operations never spend the same balance. One token and one identity.
create unique index wallet_operations_active on wallet_operations (agent_id) where status in ('requested', 'signed');
create unique index wallet_operations_launch on wallet_operations (agent_id) where kind = 'launch' and status <> 'failed';
create unique index wallet_operations_identity on wallet_operations (agent_id)
  where kind = 'identity' and status <> 'failed';
-- A signed text counts once. Its time is unique, while one signature can be written in several ways.
create unique index wallet_operations_signed_once on wallet_operations (agent_id, owner_signed_at_ms);
create index wallet_operations_due on wallet_operations (due_at, id) where status in ('requested', 'signed');
-- Those whose exported key is to be deleted soon.
create index wallet_operations_exported on wallet_operations (updated_at) where exported_key is not null;
create index wallet_operations_of_agent on wallet_operations (agent_id, created_at desc, id desc);

-- `packages/custody/src/wallets/states.ts` has the same transitions, and a test compares them.
create function check_wallet_operation() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'requested' then
      raise exception 'a wallet operation begins as requested'
        using errcode = 'check_violation', constraint = 'wallet_operations_transition';
    end if;
    return new;
  end if;
  if (new.id, new.agent_id, new.wallet, new.kind, new.requested_by, new.asset, new.destination, new.public_key, new.owner_signature,
      new.token_name, new.token_symbol, new.token_uri, new.created_at)
    is distinct from
     (old.id, old.agent_id, old.wallet, old.kind, old.requested_by, old.asset, old.destination, old.public_key, old.owner_signature,
      old.token_name, old.token_symbol, old.token_uri, old.created_at)
    or (old.amount is not null and new.amount is distinct from old.amount) then
    raise exception 'what a wallet operation does stays'
      using errcode = 'check_violation', constraint = 'wallet_operations_stays';
  end if;
  if old.status <> new.status and (old.status, new.status) not in (
    ('requested', 'signed'),
    ('requested', 'done'),
    ('requested', 'failed'),
    ('signed', 'done'),
    ('signed', 'failed')
  ) then
    raise exception 'a wallet operation with status % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'wallet_operations_transition';
  end if;
  return new;
end $$;
create trigger wallet_operations_transition before insert or update on wallet_operations
  for each row execute function check_wallet_operation();

-- Each signed transaction of an operation. It is stored before it is sent.
create table wallet_signatures (
  operation_id text not null references wallet_operations (id),
  attempt integer not null check (attempt > 0),
  reference text not null unique,
  bytes text not null,
  last_valid_height bigint not null,
  mint text,
  created_at timestamptz not null,
  primary key (operation_id, attempt)
);
create index wallet_signatures_of_mint on wallet_signatures (mint) where mint is not null;

-- Where a server wallet may be emptied to by the API key. The newest that is effective and not cancelled counts.
create table withdraw_addresses (
  id text primary key check (id ~ '^wad_[0-9]+_[0-9a-z]{17}$'),
  agent_id text not null references agents (id),
  address text not null check (char_length(address) between 32 and 44),
  set_by text not null check (set_by ~ '^(user|wallet):.' and length(set_by) <= 300),
  created_at timestamptz not null,
  effective_at timestamptz not null check (effective_at >= created_at + interval '24 hours'),
  cancelled_at timestamptz,
  -- The signature of the owner wallet, where the agent has one. The worker verifies it again.
  owner_signature text check (char_length(owner_signature) <= 20000),
  owner_signed_at_ms bigint,
  -- When the row was really added. The worker waits 24 hours from here, whatever the other columns say.
  stored_at timestamptz not null default now(),
  constraint withdraw_addresses_signed check ((owner_signature is null) = (owner_signed_at_ms is null))
);
create index withdraw_addresses_of_agent on withdraw_addresses (agent_id, stored_at desc, id desc);
create unique index withdraw_addresses_signed_once on withdraw_addresses (agent_id, owner_signed_at_ms);

create function keep_withdraw_address() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.stored_at := now();
    return new;
  end if;
  -- One that is in effect is replaced, not cancelled: otherwise the one before it would be back at once.
  if (new.id, new.agent_id, new.address, new.set_by, new.created_at, new.effective_at, new.stored_at,
      new.owner_signature, new.owner_signed_at_ms)
    is distinct from (old.id, old.agent_id, old.address, old.set_by, old.created_at, old.effective_at, old.stored_at,
      old.owner_signature, old.owner_signed_at_ms)
    or old.cancelled_at is not null or old.stored_at + interval '24 hours' <= now() then
    raise exception 'a withdraw address can only be cancelled, while it is pending'
      using errcode = 'check_violation', constraint = 'withdraw_addresses_stays';
  end if;
  return new;
end $$;
create trigger withdraw_addresses_stays before insert or update on withdraw_addresses
  for each row execute function keep_withdraw_address();

-- The token of an agent: launched by its server wallet, or registered by its owner.
create table agent_tokens (
  agent_id text primary key references agents (id),
  mint text not null unique check (char_length(mint) between 32 and 44),
  name text not null check (char_length(name) between 1 and 32),
  symbol text not null check (char_length(symbol) between 1 and 10),
  mode text not null check (mode in ('token2022', 'pumpfun')),
  creator_wallet text not null check (char_length(creator_wallet) between 32 and 44),
  image_url text check (char_length(image_url) between 1 and 2048),
  description text check (char_length(description) between 20 and 2000),
  tx_hash text check (char_length(tx_hash) between 64 and 88),
  created_at timestamptz not null,
  constraint agent_tokens_launched check (mode <> 'token2022' or (tx_hash is not null and description is not null))
);
