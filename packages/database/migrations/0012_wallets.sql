-- The server wallets of agents, what they do, the tokens of agents, their creator fees, and swaps of users.

-- The server wallet of an agent: a random key, sealed to a public key.
create table agent_wallets (
  agent_id text not null references agents (id),
  chain text not null check (chain in ('solana', 'base')),
  address text not null unique,
  secret_sealed bytea not null
    constraint agent_wallets_sealed_to_key check (octet_length(secret_sealed) = 89 and get_byte(secret_sealed, 0) = 2),
  -- The epoch in which the key was made. No earlier one can have lost a transaction of it.
  database_epoch text not null default database_epoch(),
  created_at timestamptz not null,
  primary key (agent_id, chain)
);

-- The day's reading of agents' server wallets, one page after another. A new day starts again at the first wallet.
create table wallet_readings (
  network text primary key check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  day text not null check (day ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  -- The agent of the last wallet that was read. Empty before the first page.
  after_agent text not null,
  is_complete boolean not null
);

-- The server wallets that held USDC when they were last read. A page replaces the rows of its agents.
create table wallet_balances (
  network text not null references wallet_readings (network),
  agent_id text not null,
  address text not null references agent_wallets (address),
  amount_micros bigint not null check (amount_micros > 0),
  primary key (network, agent_id)
);

-- One thing that a server wallet does. The api adds rows; the worker checks, signs, sends and ends them.
create table wallet_transactions (
  id text primary key check (id ~ '^wop_[0-9]+_[0-9a-z]{17}$'),
  agent_id text not null references agents (id),
  wallet text not null check (char_length(wallet) between 32 and 44),
  kind text not null check (kind in ('launch', 'identity', 'send', 'withdraw', 'export')),
  -- Who asked: `agent:…`, `user:…` or `wallet:…`.
  requested_by text not null check (requested_by ~ '^(user|wallet|agent):.' and length(requested_by) <= 300),

  -- Of a send or withdrawal: SOL, USDC, or the mint of another token with its decimals.
  asset text check (asset ~ '^(SOL|USDC|[1-9A-HJ-NP-Za-km-z]{32,44})$'),
  asset_decimals smallint check (asset_decimals between 0 and 255),
  destination text check (char_length(destination) between 32 and 44),
  -- In lamports, micro-USDC or the smallest units of the token, which are 64 bits without a sign.
  amount numeric(20) check (amount between 1 and 18446744073709551615),
  -- Whether everything is sent. The amount is null until it is signed, and each attempt sends what its own fee leaves.
  is_all boolean not null default false,
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
  -- The transaction that took effect.
  reference text,
  -- The mint that it creates. It is stored before anybody can see it.
  mint text,
  -- When its newest transaction was signed, by the clock of the worker.
  signed_at timestamptz,
  failure text check (failure in (
    'underfunded', 'cap_exceeded', 'not_withdraw_address', 'owner_not_verified', 'bad_destination', 'rejected_on_chain',
    'bad_metadata', 'expired', 'bad_asset', 'ended_by_operators'
  )),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When the worker looks at it next.
  due_at timestamptz not null,
  constraint wallet_transactions_kind check (
    (asset is not null) = (kind in ('send', 'withdraw'))
    and (destination is not null) = (kind in ('send', 'withdraw'))
    and (asset_decimals is not null) = coalesce(asset not in ('SOL', 'USDC'), false)
    and (kind in ('send', 'withdraw') or (amount is null and not is_all))
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
  constraint wallet_transactions_result check (
    (reference is not null) = (status = 'done' and kind <> 'export')
    and (mint is null or kind in ('launch', 'identity'))
    and (mint is not null or status <> 'done' or kind not in ('launch', 'identity'))
    and (exported_key is null or (status = 'done' and kind = 'export'))
    and (failure is not null) = (status = 'failed')
  )
);
-- A wallet does one thing at a time, so that two never spend the same balance. One token and one identity.
create unique index wallet_transactions_active on wallet_transactions (agent_id) where status in ('requested', 'signed');
create unique index wallet_transactions_launch on wallet_transactions (agent_id) where kind = 'launch' and status <> 'failed';
create unique index wallet_transactions_identity on wallet_transactions (agent_id)
  where kind = 'identity' and status <> 'failed';
-- A signed text counts once. Its time is unique, while one signature can be written in several ways.
create unique index wallet_transactions_signed_once on wallet_transactions (agent_id, owner_signed_at_ms);
create index wallet_transactions_due on wallet_transactions (due_at, id) where status in ('requested', 'signed');
-- Those whose exported key is to be deleted soon.
create index wallet_transactions_exported on wallet_transactions (updated_at) where exported_key is not null;
create index wallet_transactions_of_mint on wallet_transactions (mint) where mint is not null;
create index wallet_transactions_of_agent on wallet_transactions (agent_id, created_at desc, id desc);

-- `packages/custody/src/wallets/states.ts` has the same transitions, and a test compares them.
create function check_wallet_transaction() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'requested' or new.mint is not null or new.signed_at is not null then
      raise exception 'a wallet transaction begins as requested, and nothing of it is signed'
        using errcode = 'check_violation', constraint = 'wallet_transactions_transition';
    end if;
    new.is_all := new.kind in ('send', 'withdraw') and new.amount is null;
    return new;
  end if;
  if (new.id, new.agent_id, new.wallet, new.kind, new.requested_by, new.asset, new.asset_decimals, new.is_all,
      new.destination, new.public_key, new.owner_signature, new.token_name, new.token_symbol, new.token_uri, new.created_at)
    is distinct from
     (old.id, old.agent_id, old.wallet, old.kind, old.requested_by, old.asset, old.asset_decimals, old.is_all,
      old.destination, old.public_key, old.owner_signature, old.token_name, old.token_symbol, old.token_uri, old.created_at)
    or (old.amount is not null and not old.is_all and new.amount is distinct from old.amount) then
    raise exception 'what a wallet transaction does stays'
      using errcode = 'check_violation', constraint = 'wallet_transactions_stays';
  end if;
  if old.status <> new.status and (old.status, new.status) not in (
    ('requested', 'signed'),
    ('requested', 'done'),
    ('requested', 'failed'),
    ('signed', 'done'),
    ('signed', 'failed')
  ) then
    raise exception 'a wallet transaction with status % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'wallet_transactions_transition';
  end if;
  return new;
end $$;
create trigger wallet_transactions_transition before insert or update on wallet_transactions
  for each row execute function check_wallet_transaction();

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
  -- When the row was really added, whatever the other columns say.
  stored_at timestamptz not null default clock_timestamp(),
  constraint withdraw_addresses_signed check ((owner_signature is null) = (owner_signed_at_ms is null))
);
create index withdraw_addresses_of_agent on withdraw_addresses (agent_id, stored_at desc, id desc);
create unique index withdraw_addresses_signed_once on withdraw_addresses (agent_id, owner_signed_at_ms);

create function keep_withdraw_address() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    -- Not now(), which is when the transaction began: it can be kept open for a day.
    new.stored_at := clock_timestamp();
    return new;
  end if;
  -- One that is in effect is replaced, not cancelled: otherwise the one before it would be back at once.
  if (new.id, new.agent_id, new.address, new.set_by, new.created_at, new.effective_at, new.stored_at,
      new.owner_signature, new.owner_signed_at_ms)
    is distinct from (old.id, old.agent_id, old.address, old.set_by, old.created_at, old.effective_at, old.stored_at,
      old.owner_signature, old.owner_signed_at_ms)
    or old.cancelled_at is not null or exists (
      select from withdraw_delays
      where address_id = old.id and notified_at + interval '24 hours' <= clock_timestamp()) then
    raise exception 'a withdraw address can only be cancelled, while it is pending'
      using errcode = 'check_violation', constraint = 'withdraw_addresses_stays';
  end if;
  return new;
end $$;
create trigger withdraw_addresses_stays before insert or update on withdraw_addresses
  for each row execute function keep_withdraw_address();

-- When the worker notified the owner of a withdraw address; its 24 hours start then. Only the worker writes it. The trigger adds
-- a row with every address, whoever adds that.
create table withdraw_delays (
  address_id text primary key references withdraw_addresses (id),
  notified_at timestamptz
);
create index withdraw_delays_unnotified on withdraw_delays (address_id) where notified_at is null;

create function add_withdraw_delay() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  insert into withdraw_delays (address_id) values (new.id);
  return null;
end $$;
create trigger withdraw_addresses_delay after insert on withdraw_addresses
  for each row execute function add_withdraw_delay();

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

-- Creator fees of agents' tokens: what the platform received, how it is split, and which transaction paid the agent.
create table creator_fees (
  id text primary key check (id ~ '^cfe_[0-9]+_[0-9a-z]{17}$'),
  agent_id text not null references agents (id),
  -- As the token was when the fee was recorded.
  mint text not null check (char_length(mint) between 32 and 44),
  mode text not null check (mode in ('token2022', 'pumpfun')),
  amount_lamports bigint not null check (amount_lamports > 0),
  agent_lamports bigint not null check (agent_lamports >= 0),
  partner_lamports bigint not null check (partner_lamports >= 0),
  buyback_lamports bigint not null check (buyback_lamports >= 0),
  -- The transaction that paid the fee to the platform. It counts once, unless its record was reversed.
  source_tx text not null check (char_length(source_tx) between 64 and 88),
  status text not null check (status in ('accrued', 'settled', 'reversed')),
  recorded_by text not null check (recorded_by ~ '^user:.' and length(recorded_by) <= 300),
  created_at timestamptz not null,
  -- The transaction that paid the agent's share. It pays one fee.
  payment_tx text check (char_length(payment_tx) between 64 and 88),
  paid_by text check (paid_by ~ '^user:.' and length(paid_by) <= 300),
  paid_at timestamptz,
  -- What two operators decided about a wrong record.
  approval_id text references approvals (id),
  reversed_at timestamptz,
  constraint creator_fees_shares check (agent_lamports + partner_lamports + buyback_lamports = amount_lamports),
  constraint creator_fees_paid check (
    (status = 'reversed' or (payment_tx is not null) = (status = 'settled'))
    and (paid_by is not null) = (payment_tx is not null)
    and (paid_at is not null) = (payment_tx is not null)
  ),
  constraint creator_fees_reversed check (
    (approval_id is not null) = (status = 'reversed') and (reversed_at is not null) = (status = 'reversed')
  )
);
create unique index creator_fees_source_tx_key on creator_fees (source_tx) where status <> 'reversed';
create unique index creator_fees_payment_tx_key on creator_fees (payment_tx) where status <> 'reversed';
create index creator_fees_newest on creator_fees (created_at desc, id desc);
create index creator_fees_of_agent on creator_fees (agent_id, created_at desc, id desc);
create index creator_fees_by_status on creator_fees (status, created_at desc, id desc);

create function check_creator_fee() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'accrued' then
      raise exception 'a creator fee begins as accrued'
        using errcode = 'check_violation', constraint = 'creator_fees_transition';
    end if;
    return new;
  end if;
  if (new.id, new.agent_id, new.mint, new.mode, new.amount_lamports, new.agent_lamports, new.partner_lamports,
      new.buyback_lamports, new.source_tx, new.recorded_by, new.created_at)
    is distinct from
     (old.id, old.agent_id, old.mint, old.mode, old.amount_lamports, old.agent_lamports, old.partner_lamports,
      old.buyback_lamports, old.source_tx, old.recorded_by, old.created_at) then
    raise exception 'a recorded creator fee stays' using errcode = 'check_violation', constraint = 'creator_fees_stays';
  end if;
  if (old.status, new.status) not in (('accrued', 'settled'), ('accrued', 'reversed'), ('settled', 'reversed')) then
    raise exception 'a creator fee with status % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'creator_fees_transition';
  end if;
  if new.status = 'reversed'
    and (new.payment_tx, new.paid_by, new.paid_at) is distinct from (old.payment_tx, old.paid_by, old.paid_at) then
    raise exception 'a reversed creator fee keeps its payment'
      using errcode = 'check_violation', constraint = 'creator_fees_stays';
  end if;
  return new;
end $$;
create trigger creator_fees_transition before insert or update on creator_fees
  for each row execute function check_creator_fee();

-- At the commit, because the approval is saved after what it decides.
create function check_fee_reversal() returns trigger language plpgsql as $$
begin
  if not exists (select from approvals where id = new.approval_id and kind = 'reverse_creator_fee'
      and subject = new.id and state = 'approved') then
    raise exception 'two operators reverse a creator fee'
      using errcode = 'check_violation', constraint = 'creator_fees_reversal';
  end if;
  return null;
end $$;
create constraint trigger creator_fees_reversal after update on creator_fees deferrable initially deferred
  for each row when (new.status = 'reversed') execute function check_fee_reversal();

-- Swaps from USDC to SOL that users ordered for their own wallets. The marketplace holds no money of them: a row only says
-- which message was checked, and what became of it.
create table swap_orders (
  id text primary key check (id ~ '^swp_[0-9]+_[0-9a-z]{17}$'),
  user_id text not null references users (idp_user_id),
  -- The taker, who signs.
  wallet text not null check (wallet ~ '^[1-9A-HJ-NP-Za-km-z]{32,44}$'),
  amount_micros bigint not null check (amount_micros between 1 and 1000000000000),
  min_out_lamports bigint not null check (min_out_lamports > 0),
  -- SHA-256 of the exact message that was checked. A maker must not return one message for two orders: both would be
  -- reported as executed after one transfer.
  message_sha256 bytea not null constraint swap_orders_message unique check (octet_length(message_sha256) = 32),
  -- The maker's id of the quote.
  maker_request text not null check (maker_request ~ '^[\x21-\x7e]{1,200}$'),
  -- After this block height the message can no longer be executed.
  last_valid_height bigint not null check (last_valid_height >= 0),
  -- `ordered` until it is submitted, then `pending` until the chain shows the outcome.
  status text not null check (status in ('ordered', 'pending', 'confirmed', 'failed')),
  signature text check (signature ~ '^[1-9A-HJ-NP-Za-km-z]{64,88}$'),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  executed_at timestamptz,
  constraint swap_orders_executed check (
    (status = 'ordered') = (signature is null) and (status = 'ordered') = (executed_at is null)
  )
);
create index swap_orders_of_user on swap_orders (user_id);
-- For the sweep: what was never executed is deleted earlier.
create index swap_orders_unexecuted_at on swap_orders (created_at) where status = 'ordered';
create index swap_orders_executed_at on swap_orders (created_at) where status <> 'ordered';
