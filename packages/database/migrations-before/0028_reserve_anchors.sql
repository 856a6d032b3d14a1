-- Per network the first snapshot with a proof on a UTC day is the day's snapshot. Its leaves are kept for 90 days.
alter table reserve_snapshots add column day text check (
  day is null or (day ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' and root is not null));
create unique index reserve_snapshots_of_day on reserve_snapshots (day, network) where day is not null;

-- The transactions that add up to in_flight_micros, largest first; null in snapshots from before this migration.
alter table reserve_snapshots add column in_flight jsonb;
alter table reserve_snapshots add column in_flight_count integer check (in_flight_count >= 0);

-- The server wallets of agents, which are a tree of their own. Their leaves follow the liabilities in `groups` and in
-- `reserve_leaves`, from the next full group on.
alter table reserve_snapshots add column wallets_root text check (wallets_root ~ '^[0-9a-f]{64}$');
alter table reserve_snapshots add column wallet_count integer check (wallet_count >= 0);
alter table reserve_snapshots add column wallets_micros bigint check (wallets_micros >= 0);
alter table reserve_snapshots add constraint reserve_snapshots_wallets check (
  (wallets_root is null) = (wallet_count is null) and (wallets_root is null) = (wallets_micros is null));

-- A leaf without a holder is found by its account.
create index reserve_leaves_without_holder on reserve_leaves (snapshot_id, account_id) where holder is null;

-- One text per UTC day, which is published on a chain.
create table reserve_anchors (
  day text primary key check (day ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  text text not null unique check (length(text) between 1 and 200),
  -- The roots and sums that the text hashes, in their order.
  trees jsonb not null,
  -- The final transaction that contains the text.
  reference text check (length(reference) between 64 and 88),
  final_at timestamptz,
  due_at timestamptz not null,
  created_at timestamptz not null,
  check ((reference is null) = (final_at is null))
);
create index reserve_anchors_due on reserve_anchors (due_at) where reference is null;

-- Signed transactions of an anchor, stored before they are sent.
create table reserve_anchor_signatures (
  day text not null references reserve_anchors (day),
  n integer not null check (n > 0),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  account text not null,
  reference text not null unique check (length(reference) between 64 and 88),
  bytes text not null,
  last_valid_height bigint,
  created_at timestamptz not null,
  primary key (day, n)
);
