-- What came in on the chains and what goes out. A transfer serves one purpose; a payout is paid once.

create table transfers (
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- Lower case for EVM, exact for Solana. The network is part of the key: one hash can exist on two chains.
  reference text not null check (length(reference) between 64 and 88),
  -- What it pays for, such as `order:ord_…`; empty while nobody has claimed it.
  purpose text not null check (length(purpose) <= 100),
  payer text check (length(payer) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  -- What was asked for; the rest is surplus, owed back.
  due_micros bigint not null check (due_micros between 0 and amount_micros),
  block_height bigint not null,
  block_hash text not null,
  happened_at timestamptz not null,
  -- Since when no node shows it any more; one that is missing for long is gone.
  missing_since timestamptz,
  -- `seen` may still be undone by the chain; `final` may not; `gone` was undone.
  state text not null check (state in ('seen', 'final', 'gone')),
  looked_at timestamptz not null,
  created_at timestamptz not null,
  primary key (network, reference)
);
-- One purpose is paid by one transfer.
create unique index transfers_purpose on transfers (purpose) where purpose <> '' and state <> 'gone';
create index transfers_to_look_at on transfers (looked_at) where state = 'seen';

-- How far each treasury's history was read.
create table treasury_positions (
  network text primary key,
  position text not null,
  read_at timestamptz not null
);

create table payouts (
  id text primary key check (id ~ '^pay_[0-9]+_[0-9a-z]{17}$'),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  kind text not null check (kind in ('payout', 'refund', 'surplus')),
  -- What it is paid for; of one kind it is paid once.
  subject text not null check (length(subject) between 1 and 100),
  payee text not null check (length(payee) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  state text not null check (state in ('queued', 'held', 'numbered', 'signed', 'final', 'failed')),
  -- Why it is held or failed.
  reason text check (length(reason) <= 300),
  -- EVM: the payout's own, for ever.
  nonce bigint check (nonce >= 0),
  final_reference text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  due_at timestamptz not null,
  check ((state = 'final') = (final_reference is not null)),
  check (state not in ('held', 'failed') or reason is not null),
  constraint payouts_once unique (kind, subject),
  constraint payouts_nonce unique (network, nonce)
);
create index payouts_due on payouts (due_at) where state in ('queued', 'held', 'numbered', 'signed');
create index payouts_of_day on payouts (network, updated_at) where state = 'final';

create table payout_signatures (
  network text not null,
  reference text not null,
  payout_id text not null references payouts (id),
  n integer not null check (n > 0),
  bytes text not null,
  nonce bigint,
  last_valid_height bigint,
  max_fee_per_gas numeric(40, 0),
  max_priority_fee_per_gas numeric(40, 0),
  -- Can no longer take effect, and did not.
  is_dead boolean not null default false,
  created_at timestamptz not null,
  primary key (network, reference),
  constraint payout_signatures_n unique (payout_id, n),
  check ((network = 'solana-mainnet') = (last_valid_height is not null)),
  check ((network = 'solana-mainnet') = (nonce is null))
);
-- On Solana the database itself forbids two signatures of one payout that could both take effect.
create unique index payout_signatures_one_live on payout_signatures (payout_id)
  where network = 'solana-mainnet' and not is_dead;

create table rail_nonces (
  network text primary key,
  treasury text not null,
  next_nonce bigint not null check (next_nonce >= 0)
);
