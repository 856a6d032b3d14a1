-- Proof of reserves: what covers what is owed, and where it was published.

-- A snapshot of a treasury and of what is owed on its network. The sums include what the cold address holds.
create table reserve_snapshots (
  id text primary key check (id ~ '^rsv_[0-9]+_[0-9a-z]{17}$'),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  taken_at timestamptz not null,
  treasury text not null,
  -- On the chain: as of the newest final block, and as of now.
  final_micros bigint not null check (final_micros >= 0),
  latest_micros bigint not null check (latest_micros >= 0),
  -- Null without a cold address.
  cold_address text,
  cold_micros bigint,
  -- In the ledger: what the treasury must hold, what of it may have left already, and what is in venues.
  ledger_micros bigint not null,
  in_flight_micros bigint not null check (in_flight_micros >= 0),
  -- The transactions that add up to in_flight_micros, largest first.
  in_flight jsonb not null,
  in_flight_count integer not null check (in_flight_count >= 0),
  venues_micros bigint not null check (venues_micros >= 0),
  -- What is owed.
  escrow_micros bigint not null check (escrow_micros >= 0),
  payable_micros bigint not null check (payable_micros >= 0),
  surplus_micros bigint not null check (surplus_micros >= 0),
  suspense_micros bigint not null check (suspense_micros >= 0),
  fees_micros bigint not null check (fees_micros >= 0),
  earn_micros bigint not null check (earn_micros >= 0),
  -- The part of it that comes from payments that are not final.
  unfinal_micros bigint not null check (unfinal_micros >= 0),
  short_micros bigint not null check (short_micros >= 0),

  -- Of snapshots with a proof: the Merkle-sum tree over every liability, with the roots and sums of each full group of leaves,
  -- so that a proof reads one group and not all of them.
  root text check (root ~ '^[0-9a-f]{64}$'),
  leaf_count integer check (leaf_count >= 0),
  groups jsonb,
  -- The server wallets of agents are a tree of their own. Their leaves follow the liabilities in `groups` and in
  -- `reserve_leaves`, from the next full group on.
  wallets_root text check (wallets_root ~ '^[0-9a-f]{64}$'),
  wallet_count integer check (wallet_count >= 0),
  wallets_micros bigint check (wallets_micros >= 0),
  -- The first snapshot with a proof on a UTC day is the day's snapshot; where agents have server wallets, the first one after
  -- these were read on that day. Its leaves are stored for 90 days.
  day text,

  constraint reserve_snapshots_proof check ((root is null) = (leaf_count is null) and (root is null) = (groups is null)),
  constraint reserve_snapshots_day check (
    day is null or (day ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' and root is not null)),
  constraint reserve_snapshots_wallets check (
    (wallets_root is null) = (wallet_count is null) and (wallets_root is null) = (wallets_micros is null)),
  constraint reserve_snapshots_cold check ((cold_address is null) = (cold_micros is null) and cold_micros >= 0)
);
create index reserve_snapshots_newest on reserve_snapshots (network, taken_at desc);
create index reserve_snapshots_proven on reserve_snapshots (network, taken_at desc) where root is not null;
create unique index reserve_snapshots_of_day on reserve_snapshots (day, network) where day is not null;

create table reserve_leaves (
  snapshot_id text not null references reserve_snapshots (id) on delete cascade,
  n integer not null check (n >= 0),
  account_id text not null,
  -- The wallet to which the money belongs; null where the chain did not show who paid. Such a leaf is found by its account.
  holder text,
  amount_micros bigint not null check (amount_micros > 0),
  salt text not null check (salt ~ '^[0-9a-f]{32}$'),
  primary key (snapshot_id, n)
);
create index reserve_leaves_of_holder on reserve_leaves (snapshot_id, holder) where holder is not null;
create index reserve_leaves_without_holder on reserve_leaves (snapshot_id, account_id) where holder is null;

-- One text per UTC day, which is published on a chain.
create table reserve_anchors (
  day text primary key check (day ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  text text not null unique check (length(text) between 1 and 200),
  -- The roots and sums that the text hashes, in their order.
  trees jsonb not null,
  -- The signatures of EVM treasuries over the text: network, treasury, signature. One per network.
  signatures jsonb not null default '[]' check (jsonb_typeof(signatures) = 'array'),
  -- The final transaction that contains the text, and the account that signed it.
  reference text check (length(reference) between 64 and 88),
  network text check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  account text,
  final_at timestamptz,
  due_at timestamptz not null,
  created_at timestamptz not null,
  constraint reserve_anchors_final check (
    (reference is null) = (final_at is null) and (reference is null) = (network is null)
    and (reference is null) = (account is null))
);
create index reserve_anchors_due on reserve_anchors (due_at) where reference is null;
