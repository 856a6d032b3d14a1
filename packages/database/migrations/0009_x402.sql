-- Payments that come with a request over HTTP.

create table purchases (
  id text primary key check (id ~ '^hir_[0-9]+_[0-9a-z]{17}$'),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- What identifies the payment: a transaction that the buyer sent, or what the buyer signed for us to send.
  kind text not null check (kind in ('transaction', 'authorization', 'message')),
  proof text not null check (length(proof) between 64 and 150),
  -- What is bought: `service:svc_…` or `registration`, and the request, so that it is done without asking again.
  subject text not null check (length(subject) between 1 and 100),
  request jsonb not null check (jsonb_typeof(request) = 'object'),
  -- The same payment with another request is not the same purchase.
  fingerprint bytea not null check (length(fingerprint) = 32),
  request_key text check (length(request_key) between 1 and 128),
  -- How we know that the caller is the payer.
  binding text not null check (binding in ('none', 'reference', 'payer', 'signed')),
  payer text check (length(payer) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  -- `claimed` is handled by a request until its lease ends; `sent` may be on the chain; `done` is bought; `void` never took
  -- effect and may be tried again.
  state text not null check (state in ('claimed', 'sent', 'done', 'void')),
  lease_until timestamptz not null,
  -- A lease of an earlier epoch is free.
  database_epoch text not null default database_epoch(),
  reference text check (length(reference) between 64 and 88),
  -- The order, or the agent that was registered.
  result_id text check (length(result_id) <= 100),
  why text check (length(why) <= 300),
  -- A contested registration has no order, so its own row says it. The agent exists, so an arbiter decides.
  contested_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint purchases_proof unique (network, kind, proof),
  constraint purchases_sent check (state <> 'sent' or reference is not null),
  constraint purchases_done check ((state = 'done') = (result_id is not null)),
  constraint purchases_paid check (state <> 'done' or reference is not null),
  constraint purchases_contested check (
    contested_at is null or (subject = 'registration' and binding = 'none' and state = 'done')
  )
);
-- Several purchases can be paid in one transaction.
create index purchases_reference on purchases (network, reference) where reference is not null;
create unique index purchases_result on purchases (result_id) where result_id is not null;
create index purchases_under_way on purchases (updated_at) where state = 'sent';
create index purchases_contested on purchases (contested_at, id) where contested_at is not null;
-- Payments that came to nothing are deleted after a while: anybody can make any number of them.
create index purchases_over on purchases (updated_at) where state in ('claimed', 'void') and reference is null;
-- What a wallet bought with a request key: a client whose response was lost repeats the key and is not charged twice. Not
-- unique, because a key may be used again after a day; a lock per wallet keeps two at once from both being sent.
create index purchases_by_request_key on purchases (network, payer, request_key)
  where binding = 'signed' and request_key is not null and state in ('sent', 'done');

-- The later namings of a transfer that bought something (docs/contract/x402.md), for the payer, who can still sign one of them,
-- and for an arbiter.
create table purchase_namings (
  purchase_id text not null references purchases (id) on update cascade on delete cascade,
  n integer not null check (n between 1 and 20),
  subject text not null check (length(subject) between 1 and 100),
  request jsonb not null check (jsonb_typeof(request) = 'object'),
  fingerprint bytea not null check (length(fingerprint) = 32),
  amount_micros bigint not null check (amount_micros > 0),
  named_at timestamptz not null,
  primary key (purchase_id, n),
  constraint purchase_namings_once unique (purchase_id, fingerprint)
);
