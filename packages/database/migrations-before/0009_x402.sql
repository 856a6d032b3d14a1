-- Payments that come with a request over HTTP: one row each, from the claim to what was bought.

create table hires (
  id text primary key check (id ~ '^hir_[0-9]+_[0-9a-z]{17}$'),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- What makes the payment one: a transaction the buyer sent, or what the buyer signed for us to send.
  kind text not null check (kind in ('transaction', 'authorization', 'message')),
  proof text not null check (length(proof) between 64 and 150),
  -- What is bought: `service:svc_…` or `registration`, and what the buyer said, so that it is done without asking again.
  subject text not null check (length(subject) between 1 and 100),
  request jsonb not null check (jsonb_typeof(request) = 'object'),
  -- The same payment with another request is not the same hire.
  fingerprint bytea not null check (length(fingerprint) = 32),
  request_key text check (length(request_key) between 1 and 128),
  -- How we know that whoever asks is who paid.
  binding text not null check (binding in ('none', 'reference', 'payer', 'signed')),
  payer text check (length(payer) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  -- `claimed` is looked at by somebody until the lease ends; `sent` may be on the chain; `done` is bought; `void` never
  -- took effect and may be tried again.
  state text not null check (state in ('claimed', 'sent', 'done', 'void')),
  lease_until timestamptz not null,
  payment jsonb,
  reference text check (length(reference) between 64 and 88),
  bytes text,
  nonce bigint check (nonce >= 0),
  signed_at_height bigint,
  last_valid_height bigint,
  -- What came of it: the order, or the agent that was registered.
  result_id text check (length(result_id) <= 100),
  why text check (length(why) <= 300),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint hires_proof unique (network, kind, proof),
  constraint hires_sent check (state <> 'sent' or (bytes is not null and reference is not null and payment is not null)),
  constraint hires_done check ((state = 'done') = (result_id is not null)),
  check (state <> 'done' or reference is not null)
);
create unique index hires_reference on hires (network, reference) where reference is not null and state <> 'void';
create index hires_settlement on hires (network, reference) where kind <> 'transaction';
create index hires_of_payer on hires (network, payer) where state = 'sent';
create index hires_under_way on hires (updated_at) where state = 'sent';
create unique index hires_result on hires (result_id) where result_id is not null;

-- The accounts that pay the gas: their nonces are given out here, so that several processes can share one.
create table gas_nonces (
  network text primary key check (network in ('base-mainnet', 'alt-mainnet')),
  account text not null,
  next bigint not null check (next >= 0)
);
-- What they signed, until it is mined: a number that is never used would block all later ones.
create table gas_transactions (
  network text not null check (network in ('base-mainnet', 'alt-mainnet')),
  nonce bigint not null check (nonce >= 0),
  bytes text not null,
  primary key (network, nonce)
);

-- Of a program's order the agent is told by an event how its payout ended.
alter table payouts add column told_agent text references agents (id);

-- What was bought lately, for the list of what is bought most: read from the index alone.
create index orders_paid on orders (paid_at desc) include (listing_id, buyer)
  where paid_at is not null and status <> 'cancelled';
-- What programs can buy in one category.
create index listings_payable_in on listings (category, settled_buyers desc, id desc)
  where active and marketable and price_type = 'fixed';

-- Whether somebody waits for a transfer that another names.
create index orders_awaiting on orders (pending_reference) where pending_reference is not null;
