-- Earn: USDC of depositors in venues (ERC-4626 vaults), their shares of each pool, and what the worker does with both.
-- Only the worker writes pools, positions and venue transfers. The api adds deposits and withdrawals, which the worker decides.

-- One pool per market of a venue. It owns nothing but shares of its vault, and a share of the pool is a fixed number of those.
create table earn_pools (
  key text primary key check (key ~ '^[a-z0-9-]{1,32}:[a-z0-9-]{1,32}$'),
  network text not null check (network in ('base-mainnet', 'alt-mainnet')),
  kind text not null check (kind in ('lending', 'liquidity_provision')),
  -- The contract and the wallet that holds its shares, in lower case.
  vault text not null check (vault ~ '^0x[0-9a-f]{40}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- The shares of positions, in units of 10^-12, and those of withdrawals that the vault was not asked to redeem yet.
  total_shares numeric(78) not null default 0 check (total_shares >= 0),
  queued_shares numeric(78) not null default 0 check (queued_shares >= 0),
  -- The vault's shares of our own receipts, without those of a recall that is under way. What somebody else sends does not count.
  venue_shares numeric(78) not null default 0 check (venue_shares >= 0),
  -- How many shares of the vault are behind how many of the pool: the first receipt fixes it.
  ratio_vault_shares numeric(78) check (ratio_vault_shares >= 0),
  ratio_shares numeric(78) check (ratio_shares > 0),

  -- The newest reading of the venue: what it would pay for `valued_shares` of its shares.
  read_at timestamptz,
  value_micros bigint check (value_micros >= 0),
  valued_shares numeric(78) check (valued_shares >= 0),
  tvl_micros bigint check (tvl_micros >= 0),
  -- What the vault would pay out now, of the pool's value.
  liquid_micros bigint check (liquid_micros >= 0),
  accepts_deposits boolean not null default false,
  -- Why the pool takes no deposits; null while it does. `price`: the vault pays less than it says. `wallet`: the configuration has
  -- another vault or wallet. `held`: the receipt of a recall is not understood.
  paused text check (paused in ('price', 'wallet', 'held')),
  created_at timestamptz not null,
  constraint earn_pools_ratio check ((ratio_shares is null) = (ratio_vault_shares is null)),
  constraint earn_pools_reading check (
    (read_at is null) = (value_micros is null) and (read_at is null) = (tvl_micros is null)
    and (read_at is null) = (liquid_micros is null) and (read_at is null) = (valued_shares is null)
  )
);
-- A vault has one pool: two would count the same shares.
create unique index earn_pools_of_vault on earn_pools (network, vault);

-- The price of a vault's share over time, for the rate: micro-USDC for 10^6 whole shares.
create table earn_prices (
  pool_key text not null references earn_pools (key),
  at timestamptz not null,
  price numeric(78) not null check (price >= 0),
  primary key (pool_key, at)
);

-- The shares of a depositor, named like the caller: `agent:…`, `user:…` or `wallet:…`.
create table earn_positions (
  pool_key text not null references earn_pools (key),
  holder text not null check (holder ~ '^(user|wallet|agent):.' and length(holder) <= 255),
  shares numeric(78) not null check (shares >= 0),
  -- What was paid for these shares.
  principal_micros bigint not null check (principal_micros >= 0),
  updated_at timestamptz not null,
  primary key (pool_key, holder)
);
create index earn_positions_of_holder on earn_positions (holder, pool_key);

-- What the worker does with a pool's money: to the venue (deploy) or back to the treasury (recall).
create table venue_transfers (
  id text primary key check (id ~ '^emv_[0-9]+_[0-9a-z]{17}$'),
  kind text not null check (kind in ('deploy', 'recall')),
  pool_key text not null references earn_pools (key),
  network text not null check (network in ('base-mainnet', 'alt-mainnet')),
  -- The USDC of a deploy, or the vault's shares that a recall redeems.
  amount_micros bigint check (amount_micros > 0),
  asked_shares numeric(78) check (asked_shares > 0),
  state text not null check (state in (
    'funding', 'approving', 'depositing', 'returning', 'returned', 'withdrawing', 'withdrawn', 'done', 'failed', 'held'
  )),
  -- Why a deploy is taken back, or a transfer failed or is held.
  problem text check (length(problem) <= 300),
  -- What the receipt says: the vault's shares that were received or paid, and the USDC for them.
  venue_shares numeric(78) check (venue_shares >= 0),
  assets_micros bigint check (assets_micros >= 0),
  -- The transaction with that receipt, or the one that returned the money.
  reference text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint venue_transfers_kind check (
    (kind = 'deploy') = (amount_micros is not null) and (kind = 'recall') = (asked_shares is not null)
  )
);
-- The wallet of a network does one thing at a time: its next nonce is never in doubt, and nothing comes between an approval
-- and its deposit.
create unique index venue_transfers_wallet on venue_transfers (network)
  where state in ('approving', 'depositing', 'returning', 'withdrawing');
create index venue_transfers_open on venue_transfers (network, created_at) where state not in ('done', 'failed');
create index venue_transfers_of_pool on venue_transfers (pool_key, created_at desc);

-- `packages/earn/src/venue-transfers/states.ts` has the same transitions, and a test compares them.
create function check_venue_transfer() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if (new.kind, new.state) not in (('deploy', 'funding'), ('recall', 'withdrawing')) then
      raise exception 'a venue transfer begins as funding or withdrawing'
        using errcode = 'check_violation', constraint = 'venue_transfers_transition';
    end if;
    return new;
  end if;
  if (new.id, new.kind, new.pool_key, new.network, new.amount_micros, new.asked_shares, new.created_at)
    is distinct from (old.id, old.kind, old.pool_key, old.network, old.amount_micros, old.asked_shares, old.created_at) then
    raise exception 'what a venue transfer does stays' using errcode = 'check_violation', constraint = 'venue_transfers_stays';
  end if;
  if old.state <> new.state and (old.state, new.state) not in (
    ('funding', 'approving'),
    ('funding', 'returning'),
    ('funding', 'failed'),
    ('approving', 'depositing'),
    ('approving', 'returning'),
    ('depositing', 'done'),
    ('depositing', 'returning'),
    ('depositing', 'held'),
    ('returning', 'returned'),
    ('returning', 'held'),
    ('returned', 'failed'),
    ('held', 'returning'),
    ('held', 'done'),
    ('held', 'withdrawn'),
    ('withdrawing', 'withdrawn'),
    ('withdrawing', 'failed'),
    ('withdrawing', 'held'),
    ('withdrawn', 'done')
  ) then
    raise exception 'a venue transfer in state % does not become %', old.state, new.state
      using errcode = 'check_violation', constraint = 'venue_transfers_transition';
  end if;
  return new;
end $$;
create trigger venue_transfers_transition before insert or update on venue_transfers
  for each row execute function check_venue_transfer();

-- A transfer that a depositor named. The api adds it; the worker decides what becomes of it.
create table earn_deposits (
  id text primary key check (id ~ '^edp_[0-9]+_[0-9a-z]{17}$'),
  pool_key text not null references earn_pools (key),
  holder text not null check (holder ~ '^(user|wallet|agent):.' and length(holder) <= 255),
  network text not null check (network in ('base-mainnet', 'alt-mainnet')),
  amount_micros bigint not null check (amount_micros > 0),
  status text not null check (status in ('waiting', 'received', 'deploying', 'active', 'refunded', 'held', 'failed')),
  -- The part of the amount that is in the vault or on its way there. What is above the payout cap goes in several parts.
  moved_micros bigint not null default 0 check (moved_micros between 0 and amount_micros),
  -- Whose transfer it was when the worker took its money. Shares are paid out to these wallets only, so it stays here: the
  -- api can change what a transfer is for.
  payer text check (payer ~ '^0x[0-9a-f]{40}$'),
  -- The shares that it got so far, and what they were worth then.
  shares numeric(78) check (shares > 0),
  value_micros bigint check (value_micros >= 0),
  -- Why it, or the rest of an active deposit, is refunded, or why it is held or failed.
  failure text check (length(failure) <= 300),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint earn_deposits_result check (
    (shares is null) = (value_micros is null) and (status <> 'active' or shares is not null)
    and (status not in ('refunded', 'held', 'failed') or failure is not null)
    and (status not in ('waiting', 'received', 'refunded', 'failed') or (moved_micros = 0 and shares is null))
    and (status not in ('deploying', 'active') or (moved_micros > 0 and payer is not null))
  )
);
create index earn_deposits_of_holder on earn_deposits (holder, created_at desc, id desc);
create index earn_deposits_open on earn_deposits (pool_key, (amount_micros < 1000000), updated_at, id)
  where status in ('received', 'deploying');
create index earn_deposits_waiting on earn_deposits (holder) where status = 'waiting';

-- What a venue transfer took from each deposit, and the shares that its receipt brought.
create table earn_deposit_parts (
  venue_transfer_id text not null references venue_transfers (id),
  deposit_id text not null references earn_deposits (id),
  amount_micros bigint not null check (amount_micros > 0),
  shares numeric(78) check (shares >= 0),
  primary key (venue_transfer_id, deposit_id)
);
create index earn_deposit_parts_of_deposit on earn_deposit_parts (deposit_id);

-- Shares that a holder wants to cash in. The api adds it as `requested`; the worker takes the shares from the position. They stay
-- shares here until the vault has paid for them.
create table earn_withdrawals (
  id text primary key check (id ~ '^ewd_[0-9]+_[0-9a-z]{17}$'),
  pool_key text not null references earn_pools (key),
  holder text not null check (holder ~ '^(user|wallet|agent):.' and length(holder) <= 255),
  -- Null: all of them.
  shares numeric(78) check (shares > 0),
  -- One of the wallets that paid the holder's deposits into this pool. The worker checks it.
  destination text not null check (destination ~ '^0x[0-9a-f]{40}$'),
  status text not null check (status in ('requested', 'queued', 'settled', 'rejected')),
  burned_shares numeric(78) check (burned_shares > 0),
  -- Of the burned shares: those that the vault was not asked to redeem yet, and those in a recall under way.
  open_shares numeric(78) not null default 0 check (open_shares >= 0),
  recalled_shares numeric(78) not null default 0 check (recalled_shares >= 0),
  -- What the vault paid for the others, and the part of it for which payouts were requested.
  paid_micros bigint not null default 0 check (paid_micros >= 0),
  filled_micros bigint not null default 0 check (filled_micros between 0 and paid_micros),
  failure text check (failure in ('insufficient_shares', 'wrong_destination', 'below_minimum')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint earn_withdrawals_result check (
    (burned_shares is not null) = (status in ('queued', 'settled'))
    and (open_shares + recalled_shares <= coalesce(burned_shares, 0))
    and (failure is not null) = (status = 'rejected')
    and (paid_micros = 0 or burned_shares is not null)
    and (status <> 'settled' or (open_shares + recalled_shares = 0 and filled_micros = paid_micros))
  )
);
create index earn_withdrawals_open on earn_withdrawals (pool_key, created_at, id) where status in ('requested', 'queued');
create index earn_withdrawals_of_holder on earn_withdrawals (holder, created_at desc, id desc);

-- What a recall redeems for each withdrawal, and by its receipt what the vault paid for it. A recall that reverted has none.
create table earn_recall_parts (
  venue_transfer_id text not null references venue_transfers (id),
  withdrawal_id text not null references earn_withdrawals (id),
  shares numeric(78) not null check (shares >= 0),
  amount_micros bigint check (amount_micros >= 0),
  primary key (venue_transfer_id, withdrawal_id)
);

-- Each payout of a withdrawal.
create table earn_fills (
  withdrawal_id text not null references earn_withdrawals (id),
  n integer not null check (n > 0),
  -- Of its payout.
  subject text not null unique generated always as (withdrawal_id || ':' || n) stored,
  amount_micros bigint not null check (amount_micros > 0),
  created_at timestamptz not null,
  primary key (withdrawal_id, n)
);

-- Of deposits and withdrawals the api only adds the first state.
create function check_earn_request() returns trigger language plpgsql as $$
begin
  if current_user = 'market_api' and new.status not in ('waiting', 'received', 'requested') then
    raise exception 'the api only requests' using errcode = 'insufficient_privilege', constraint = 'earn_requests_of_api';
  end if;
  return new;
end $$;
create trigger earn_deposits_of_api before insert on earn_deposits for each row execute function check_earn_request();
create trigger earn_withdrawals_of_api before insert on earn_withdrawals for each row execute function check_earn_request();

-- The api moves no money of pools. What it claims for a deposit goes to escrow, from where only the worker takes it.
create function check_earn_money_of_api() returns trigger language plpgsql as $$
begin
  raise exception 'the api cannot move money of %', new.account_id
    using errcode = 'insufficient_privilege', constraint = 'earn_money_of_api';
end $$;
create trigger ledger_moves_earn_of_api before insert on ledger_moves
  for each row when (current_user = 'market_api'
    and (new.account_id like 'venue:%' or new.account_id like 'withdrawal:%'
      or new.account_id like 'escrow:%:earn\_deposit:%' and new.amount_micros < 0))
  execute function check_earn_money_of_api();

-- What a venue transfer brings back to the treasury pays for nothing, whoever names it and whichever address it comes from.
create function check_transfer_of_venue() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (select from outgoing_transactions where reference = new.reference and kind = 'venue') then
    raise exception 'transfer % belongs to a pool', new.reference
      using errcode = 'check_violation', constraint = 'transfers_of_venue';
  end if;
  return new;
end $$;
create trigger transfers_of_venue before insert or update of purpose on transfers
  for each row when (new.purpose <> '') execute function check_transfer_of_venue();
