-- Transfers into the treasuries, and what waits for one.

create table transfers (
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- Lower case for EVM, exact for Solana. The network is part of the key: one hash can exist on two chains.
  reference text not null check (length(reference) between 64 and 88),
  -- One transaction can contain several transfers to the treasury. Each is a transfer of its own.
  transfer_index int not null default 0 check (transfer_index between 0 and 9999),
  -- Its name in the ledger's accounts.
  subject text not null generated always as (
    case transfer_index when 0 then reference else reference || '.' || transfer_index end
  ) stored,
  -- What it pays for, such as `order:ord_…`; empty while it pays for nothing.
  purpose text not null check (length(purpose) <= 100),
  payer text check (length(payer) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  -- What was asked for; the rest is surplus, which is returned.
  due_micros bigint not null check (due_micros between 0 and amount_micros),
  block_height bigint not null,
  block_hash text not null,
  happened_at timestamptz not null,
  -- Since when no node shows it any more; one that is missing for long is gone.
  missing_since timestamptz,
  -- `seen` may still be undone by the chain; `final` may not; `gone` was undone.
  state text not null check (state in ('seen', 'final', 'gone')),
  -- When it was claimed for its purpose, by the database's time; null while it pays for nothing.
  claimed_at timestamptz,
  -- When it was checked by itself last.
  checked_at timestamptz not null,
  created_at timestamptz not null,
  primary key (network, reference, transfer_index)
);
create unique index transfers_subject on transfers (network, subject);
-- A purpose is paid by one transfer.
create unique index transfers_purpose on transfers (purpose) where purpose <> '' and state <> 'gone';
-- What is seen in a block that is final is checked by itself.
create index transfers_seen on transfers (network, block_height) where state = 'seen';
-- Final ones that are in blocks after the final one of their network: the balance there does not count them yet.
create index transfers_final on transfers (network, block_height desc) where state = 'final';

-- A transfer becomes final by a worker that has asked the chain, and stays as the chain showed it. Where its payer was unknown,
-- it can be seen again with its payer, which the worker then verifies.
create function check_transfer_of_api() returns trigger language plpgsql as $$
begin
  if new.state = 'final' and (tg_op = 'INSERT' or old.state <> 'final') then
    raise exception 'the api cannot make transfer % final', new.subject
      using errcode = 'insufficient_privilege', constraint = 'transfers_of_api';
  end if;
  if tg_op = 'UPDATE' and old.state = 'final' and (
    (old.network, old.reference, old.transfer_index, old.amount_micros)
      is distinct from (new.network, new.reference, new.transfer_index, new.amount_micros)
    or (new.state <> 'final' or old.payer is distinct from new.payer) and (old.payer is not null or new.state <> 'seen')
  ) then
    raise exception 'the api cannot change transfer %, which is final', old.subject
      using errcode = 'insufficient_privilege', constraint = 'transfers_of_api';
  end if;
  return new;
end $$;
create trigger transfers_of_api before insert or update on transfers
  for each row when (current_user = 'market_api') execute function check_transfer_of_api();

-- How far each network was read. Everything up to the final block is decided; what was read after it can still change.
create table followed_networks (
  network text primary key check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- On Solana the slot, and the newest signature up to there.
  final_height bigint not null check (final_height >= 0),
  final_hash text not null check (length(final_hash) <= 88),
  -- EVM: the time of the final block.
  final_at timestamptz,
  -- Whose movements are read. With another treasury the reading begins again.
  treasury text not null,
  cold text,
  -- What both have after a final block; null until that was read. By how much transfers have changed the treasury since.
  held_height bigint,
  treasury_micros bigint check (treasury_micros >= 0),
  cold_micros bigint check (cold_micros >= 0),
  moved_micros bigint not null default 0,
  -- When enough providers said the last time that this is the final block.
  confirmed_at timestamptz,
  -- Up to where the newest blocks were read; null where only final blocks are read, and before the first reading.
  position text check (length(position) <= 200),
  -- The last block that was read to its end, and when there was none after it.
  head_height bigint check (head_height >= 0),
  read_at timestamptz,
  check ((position is null) = (head_height is null)),
  constraint followed_networks_held check (
    (treasury_micros is null) = (held_height is null) and (cold_micros is null or held_height is not null))
);

-- Everything that waits for a payment on a chain: one row for each transfer that was named and each payment that was submitted.
create table payment_intents (
  id text primary key check (id ~ '^int_[0-9]+_[0-9a-z]{17}$'),
  -- What it pays for. A `purchase` places its order when the payment is confirmed.
  purpose_kind text not null check (purpose_kind in ('order', 'registration', 'purchase', 'bounty', 'earn_deposit')),
  purpose_id text not null check (length(purpose_id) between 1 and 100),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- The transaction that was named or submitted; once confirmed, the one that paid.
  reference text not null check (length(reference) between 64 and 88),
  -- Of a transaction that is named once, in a bounty or by a depositor: where, and what was asked for with it.
  scope text check (length(scope) between 1 and 255),
  request jsonb check (jsonb_typeof(request) = 'object'),
  -- The wallets that may have paid; null when any may.
  payers text[],
  due_micros bigint not null check (due_micros > 0),
  not_before timestamptz not null,
  status text not null check (status in ('waiting', 'confirmed', 'refunded', 'failed', 'expired', 'cancelled')),
  why text check (length(why) <= 300),
  -- A payment that the buyer signed. While it waits and `bytes` is set, we submit it until it is on the chain or never can be.
  payment jsonb,
  -- Of a payment that we submit: the authorization or message that can be executed once.
  proof text check (length(proof) between 64 and 150),
  bytes text,
  -- EVM: whose transaction `bytes` is. It is submitted until it is mined, also when the payment has ended: a nonce that is never
  -- used would block all later ones.
  gas_account text check (length(gas_account) = 42),
  nonce bigint check (nonce >= 0),
  signed_at_height bigint,
  last_valid_height bigint,
  -- How deep the transfer was when it was last checked, and must be; null while no block has it, and for finality.
  confirmations integer check (confirmations >= 0),
  required_confirmations integer check (required_confirmations > 0),
  -- The block that has it, so that it is looked at again when that is deep enough.
  block_height bigint check (block_height >= 0),
  created_at timestamptz not null,
  checked_at timestamptz not null,
  constraint payment_intents_submitted check (
    bytes is null or (payment is not null and signed_at_height is not null and proof is not null and payers is not null)),
  constraint payment_intents_nonce check ((nonce is null) = (gas_account is null) and (nonce is null or bytes is not null)),
  constraint payment_intents_request check (request is null or scope is not null),
  -- A claim that is to be accepted, and the wallets that the poster has proven to own.
  constraint payment_intents_bounty check (
    purpose_kind <> 'bounty' or scope is not null and request is not null
    and request ? 'claim_id' and jsonb_typeof(request -> 'proven_payers') is not distinct from 'array')
);
-- A purpose waits for one payment at a time.
create unique index payment_intents_waiting on payment_intents (purpose_kind, purpose_id) where status = 'waiting';
-- Named and submitted payments are checked separately: anyone can name many transfers that never come.
create index payment_intents_named on payment_intents (checked_at) where status = 'waiting' and bytes is null;
create index payment_intents_sent on payment_intents (checked_at) where status = 'waiting' and bytes is not null;
create index payment_intents_reference on payment_intents (network, reference);
create unique index payment_intents_assigned on payment_intents (network, gas_account, nonce) where nonce is not null;
-- A signed payment pays for one thing. One that failed can be submitted again.
create unique index payment_intents_proof on payment_intents (network, proof)
  where bytes is not null and status in ('waiting', 'confirmed', 'refunded');
-- What a wallet has under way, and its payments that failed: each costs gas.
create index payment_intents_of_payer on payment_intents (network, (payers[1]))
  where bytes is not null and status = 'waiting';
create index payment_intents_failed on payment_intents (network, (payers[1]), created_at)
  where bytes is not null and status = 'failed';
-- What was named in a scope, and for a purpose.
create index payment_intents_scope on payment_intents (purpose_kind, scope, network, reference) where scope is not null;
create index payment_intents_purpose on payment_intents (purpose_kind, purpose_id) where scope is not null;

-- One that ended stays as it is. Only its transaction is replaced by one with a higher fee.
create function check_payment_intent() returns trigger language plpgsql as $$
begin
  if old.status <> 'waiting' and (new.status <> old.status or new.bytes is not distinct from old.bytes) then
    raise exception 'payment intent % has ended', old.id using errcode = 'check_violation', constraint = 'payment_intents_transition';
  end if;
  return new;
end $$;
create trigger payment_intents_transition before update on payment_intents
  for each row execute function check_payment_intent();

-- Who asks for unmatched money that another wallet sent, such as an exchange. Operators decide (refund_unmatched).
create table refund_requests (
  unmatched_id text not null,
  wallet text not null,
  note text not null check (length(note) between 1 and 1000),
  created_at timestamptz not null,
  primary key (unmatched_id, wallet)
);
