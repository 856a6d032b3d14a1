-- What left the treasuries, whether more may leave, and what covers what is owed.

-- Payments out of the treasuries as the chains show them, ours or not: what a restored database no longer knows it
-- has paid is still written there.
create table sendings (
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  reference text not null check (length(reference) between 64 and 88),
  -- The payout it says it is; null for a payment that does not come from this house.
  payout_id text check (length(payout_id) between 1 and 100),
  payee text check (length(payee) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  nonce bigint check (nonce >= 0),
  block_height bigint not null,
  block_hash text not null,
  happened_at timestamptz not null,
  is_final boolean not null,
  -- Since when it is booked as a loss of the platform: nobody could tell what it was for.
  booked_at timestamptz,
  created_at timestamptz not null,
  primary key (network, reference)
);
create index sendings_of_payout on sendings (payout_id) where payout_id is not null;
create index sendings_by_nonce on sendings (network, nonce) where nonce is not null;

-- Per network, whether payouts may leave. No row, no payouts.
create table payout_gates (
  network text primary key check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- The life of this database that is being compared with the chain: a restored or restarted one begins another.
  life text not null check (length(life) between 1 and 200),
  -- Nothing signed before this life began can take effect in a block above this one.
  horizon bigint not null,
  -- How far the treasury's payments were read; null before the first were.
  position text,
  -- Since when all that left before this life is known here; null while it is not.
  compared_at timestamptz,
  -- The life in which the treasury was last counted; null where nobody ever counts it.
  counted_life text check (length(counted_life) between 1 and 200),
  -- Since when the treasury holds less than it must, and by how much.
  short_since timestamptz,
  short_micros bigint not null default 0 check (short_micros >= 0),
  updated_at timestamptz not null,
  check ((short_since is null) = (short_micros = 0))
);

-- An id that follows from what is paid: asked for again after a restore, a payout is the same one.
alter table payouts drop constraint payouts_id_check;
alter table payouts add constraint payouts_id_check check (id ~ '^pay_[0-9a-z]{32}$') not valid;
-- A failed payout that is tried again begins another round; what was signed before can no longer take effect.
alter table payouts add column round integer not null default 1 check (round > 0);
alter table payout_signatures add column round integer not null default 1 check (round > 0);
alter table payout_signatures drop constraint payout_signatures_n;
alter table payout_signatures add constraint payout_signatures_n unique (payout_id, round, n);
create index payouts_failed on payouts (network, updated_at) where state = 'failed';

-- One look at a treasury and at what is owed on its network.
create table reserve_looks (
  id text primary key check (id ~ '^rsv_[0-9]+_[0-9a-z]{17}$'),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  looked_at timestamptz not null,
  treasury text not null,
  -- On the chain: as of the newest final block, and as of now.
  final_micros bigint not null check (final_micros >= 0),
  latest_micros bigint not null check (latest_micros >= 0),
  -- In the books: what the treasury must hold, and what of it may have left already.
  ledger_micros bigint not null,
  in_flight_micros bigint not null check (in_flight_micros >= 0),
  escrow_micros bigint not null check (escrow_micros >= 0),
  payable_micros bigint not null check (payable_micros >= 0),
  surplus_micros bigint not null check (surplus_micros >= 0),
  suspense_micros bigint not null check (suspense_micros >= 0),
  fees_micros bigint not null check (fees_micros >= 0),
  short_micros bigint not null check (short_micros >= 0),
  -- Of the looks that also wrote down every liability: the Merkle-sum tree over them.
  root text check (root ~ '^[0-9a-f]{64}$'),
  leaf_count integer check (leaf_count >= 0),
  -- The roots and sums of each full group of leaves, so that a proof reads one group and not all of them.
  groups jsonb,
  check ((root is null) = (leaf_count is null) and (root is null) = (groups is null))
);
create index reserve_looks_newest on reserve_looks (network, looked_at desc);
create index reserve_looks_proven on reserve_looks (network, looked_at desc) where root is not null;

create table reserve_leaves (
  look_id text not null references reserve_looks (id) on delete cascade,
  n integer not null check (n >= 0),
  account_id text not null,
  -- The wallet the money belongs to; null where the chain did not tell who paid.
  holder text,
  amount_micros bigint not null check (amount_micros > 0),
  salt text not null check (salt ~ '^[0-9a-f]{32}$'),
  primary key (look_id, n)
);
create index reserve_leaves_of_holder on reserve_leaves (look_id, holder) where holder is not null;
