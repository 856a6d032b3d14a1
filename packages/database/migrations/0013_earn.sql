-- Earn: USDC of depositors in venues (ERC-4626 vaults), their shares of each pool, and what the worker does with both.
-- Only the worker writes pools, positions and venue transfers. The api adds deposits and withdrawals, which the worker decides.

-- One pool per market of a venue. Its equity is the ledger account `pool:<network>:<key>`.
create table earn_pools (
  key text primary key check (key ~ '^[a-z0-9-]{1,32}:[a-z0-9-]{1,32}$'),
  network text not null check (network in ('base-mainnet', 'alt-mainnet')),
  kind text not null check (kind in ('lending', 'liquidity_provision')),
  -- The contract and the wallet that holds its shares, in lower case.
  vault text not null check (vault ~ '^0x[0-9a-f]{40}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- All shares of depositors, in units of 10^-12.
  total_shares numeric(78) not null default 0 check (total_shares >= 0),
  -- The vault's shares that our own transactions brought, by their receipts. What somebody else sends does not count.
  venue_shares numeric(78) not null default 0 check (venue_shares >= 0),

  -- The newest reading of the venue.
  read_at timestamptz,
  value_micros bigint check (value_micros >= 0),
  tvl_micros bigint check (tvl_micros >= 0),
  -- What the vault would pay out now, of the pool's value.
  liquid_micros bigint check (liquid_micros >= 0),
  accepts_deposits boolean not null default false,
  -- Why the pool stands still; null while it does not.
  paused text check (paused in ('impaired', 'price', 'wallet')),
  created_at timestamptz not null,
  constraint earn_pools_reading check (
    (read_at is null) = (value_micros is null) and (read_at is null) = (tvl_micros is null)
    and (read_at is null) = (liquid_micros is null)
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
  amount_micros bigint not null check (amount_micros > 0),
  state text not null check (state in (
    'funding', 'approving', 'depositing', 'returning', 'returned', 'withdrawing', 'withdrawn', 'done', 'failed', 'held'
  )),
  -- Why a deploy is taken back, or a transfer failed or is held.
  problem text check (length(problem) <= 300),
  -- What the receipt says: the vault's shares that were received or paid, and the USDC for them.
  venue_shares numeric(78) check (venue_shares > 0),
  assets_micros bigint check (assets_micros > 0),
  -- The transaction with that receipt, or the one that returned the money.
  reference text,
  created_at timestamptz not null,
  updated_at timestamptz not null
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
  if (new.id, new.kind, new.pool_key, new.network, new.amount_micros, new.created_at)
    is distinct from (old.id, old.kind, old.pool_key, old.network, old.amount_micros, old.created_at) then
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
  venue_transfer_id text references venue_transfers (id),
  -- Whose transfer it was when the worker took its money. Shares are paid out to these wallets only, so it stays here: the
  -- api can change what a transfer is for.
  payer text check (payer ~ '^0x[0-9a-f]{40}$'),
  -- Of an active deposit: the shares it got, and what they were worth then.
  shares numeric(78) check (shares > 0),
  value_micros bigint check (value_micros >= 0),
  -- Why it is refunded, held or failed.
  failure text check (length(failure) <= 300),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint earn_deposits_result check (
    (shares is not null) = (status = 'active') and (value_micros is not null) = (status = 'active')
    and (failure is not null) = (status in ('refunded', 'held', 'failed'))
    and (status not in ('waiting', 'received') or (venue_transfer_id is null and payer is null))
    and (status not in ('deploying', 'active') or (venue_transfer_id is not null and payer is not null))
  )
);
create index earn_deposits_of_holder on earn_deposits (holder, created_at desc, id desc);
create index earn_deposits_open on earn_deposits (pool_key, (-amount_micros), id) where status in ('received', 'deploying');
create index earn_deposits_of_venue_transfer on earn_deposits (venue_transfer_id) where venue_transfer_id is not null;

-- Shares that a holder wants to cash in. The api adds it as `requested`; the worker burns the shares and fixes the amount.
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
  amount_micros bigint check (amount_micros > 0),
  -- The part of the amount for which payouts were requested.
  filled_micros bigint not null default 0 check (filled_micros >= 0),
  -- Whether free liquidity covered it when the shares were burned.
  was_liquid boolean,
  failure text check (failure in ('insufficient_shares', 'wrong_destination', 'pool_paused', 'below_minimum', 'worth_nothing')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint earn_withdrawals_result check (
    (burned_shares is not null) = (status in ('queued', 'settled'))
    and (amount_micros is not null) = (status in ('queued', 'settled'))
    and (was_liquid is not null) = (status in ('queued', 'settled'))
    and (failure is not null) = (status = 'rejected')
    and (filled_micros <= coalesce(amount_micros, 0))
    and (status <> 'settled' or filled_micros = amount_micros)
  )
);
create index earn_withdrawals_open on earn_withdrawals (created_at, id) where status in ('requested', 'queued');
create index earn_withdrawals_of_holder on earn_withdrawals (holder, created_at desc, id desc);

-- Each part of a withdrawal that was paid as liquidity arrived: one payout.
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
    and (new.account_id like 'venue:%' or new.account_id like 'pool:%' or new.account_id like 'withdrawal:%'
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
