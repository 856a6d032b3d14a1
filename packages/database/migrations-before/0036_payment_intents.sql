-- Everything that waits for a payment on a chain: one row for each transfer that was named and each payment that was submitted.
create table payment_intents (
  id text primary key check (id ~ '^int_[0-9]+_[0-9a-z]{17}$'),
  -- What it pays for. A `purchase` places its order when the payment is confirmed.
  purpose_kind text not null check (purpose_kind in ('order', 'registration', 'purchase')),
  purpose_id text not null check (length(purpose_id) between 1 and 100),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- The transaction that was named or submitted; once confirmed, the one that paid.
  reference text not null check (length(reference) between 64 and 88),
  -- The wallets that may have paid; null when any may.
  payers text[],
  due_micros bigint not null check (due_micros > 0),
  not_before timestamptz not null,
  status text not null check (status in ('waiting', 'confirmed', 'failed', 'expired', 'cancelled')),
  why text check (length(why) <= 300),
  -- A payment that the buyer signed. While `bytes` is set, we submit it until it is on the chain or never can be.
  payment jsonb,
  bytes text,
  nonce bigint check (nonce >= 0),
  signed_at_height bigint,
  last_valid_height bigint,
  created_at timestamptz not null,
  checked_at timestamptz not null,
  constraint payment_intents_submitted check (bytes is null or (payment is not null and signed_at_height is not null)),
  constraint payment_intents_ended check (status = 'waiting' or bytes is null)
);
-- A purpose waits for one payment at a time.
create unique index payment_intents_waiting on payment_intents (purpose_kind, purpose_id) where status = 'waiting';
-- Named and submitted payments are checked separately: anyone can name many transfers that never come.
create index payment_intents_named on payment_intents (checked_at) where status = 'waiting' and bytes is null;
create index payment_intents_sent on payment_intents (checked_at) where status = 'waiting' and bytes is not null;
create index payment_intents_reference on payment_intents (network, reference);

-- One that ended stays as it is.
create function check_payment_intent() returns trigger language plpgsql as $$
begin
  if old.status <> 'waiting' then
    raise exception 'payment intent % has ended', old.id using errcode = 'check_violation', constraint = 'payment_intents_transition';
  end if;
  return new;
end $$;
create trigger payment_intents_transition before update on payment_intents
  for each row execute function check_payment_intent();

create function payment_intent_id(seed text) returns text language sql immutable as $$
  select 'int_0_' || substr(md5(seed), 1, 17)
$$;
insert into payment_intents (id, purpose_kind, purpose_id, network, reference, payers, due_micros, not_before, status,
  payment, signed_at_height, created_at, checked_at)
select payment_intent_id(orders.id), 'order', orders.id, pending_network, pending_reference, pending_payers,
  coalesce(price_micros, 1),
  case payment_method when 'x402' then to_timestamp(0) else orders.created_at - interval '1 minute' end, 'waiting',
  signed.payment, signed.signed_at_height, pending_since, pending_since
from orders left join purchases as signed on signed.result_id = orders.id and signed.kind = 'authorization'
  and signed.signed_at_height is not null
where pending_reference is not null;
insert into payment_intents (id, purpose_kind, purpose_id, network, reference, payers, due_micros, not_before, status,
  payment, bytes, nonce, signed_at_height, last_valid_height, created_at, checked_at)
select payment_intent_id(id), case subject when 'registration' then 'registration' else 'purchase' end, id, network,
  reference, case when payer is not null then array[payer] end, amount_micros, to_timestamp(0),
  case state when 'sent' then 'waiting' else 'confirmed' end, payment, case state when 'sent' then bytes end, nonce,
  signed_at_height, last_valid_height, created_at, updated_at
from purchases where payment is not null and signed_at_height is not null and state in ('sent', 'done');
drop function payment_intent_id;

drop index orders_pending_payment;
drop index orders_awaiting;
alter table orders drop column pending_payers, drop column pending_since;
alter table purchases drop constraint hires_sent;
alter table purchases drop column payment, drop column bytes, drop column nonce, drop column signed_at_height,
  drop column last_valid_height;
alter table purchases add constraint purchases_sent check (state <> 'sent' or reference is not null);
