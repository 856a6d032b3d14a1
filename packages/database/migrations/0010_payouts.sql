-- Payments out of the treasuries: requests, signatures, what limits them, and what the chains show.

create table payouts (
  -- Derived from what is paid: requested again after a restore, a payout has the same id.
  id text primary key check (id ~ '^pay_[0-9a-z]{32}$'),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  kind text not null check (
    kind in ('payout', 'refund', 'surplus', 'fee_withdrawal', 'move_to_cold', 'move_to_venue', 'earn_withdrawal')
  ),
  -- What it is paid for. Of each kind it is paid once.
  subject text not null check (length(subject) between 1 and 100),
  -- What the payment behind it is for, which must be final before this leaves; null when no payment is behind it.
  purpose text check (length(purpose) between 1 and 100),
  -- The transfer of which it returns what no purchase claimed, or what was paid above the price; null with a purpose.
  unmatched_from text check (unmatched_from in ('suspense', 'surplus')),
  unmatched_transfer text check (length(unmatched_transfer) between 1 and 100),
  agent_id text check (length(agent_id) between 1 and 100),
  -- An agent without an address is owed all the same: its payout fails until there is one.
  payee text check (length(payee) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  -- packages/money/src/payouts/states.ts. One that is withdrawn was undone before it was signed.
  state text not null check (state in ('queued', 'held', 'signed', 'final', 'failed', 'withdrawn')),
  -- EVM: another one after the chain has used its nonce for something else, which an operator wrote off.
  mark_round integer not null default 1 check (mark_round between 1 and 100),
  -- What names it on its chain: the memo on Solana, the nonce of its authorizations on EVM. The chain pays a nonce once.
  mark text not null generated always as (case when network = 'solana-mainnet' then id
    else '0x' || encode(sha256((id || case mark_round when 1 then '' else ':' || mark_round end)::bytea), 'hex') end) stored,
  -- A payout that is tried again begins another round; what was signed before can no longer take effect.
  round integer not null default 1 check (round > 0),
  -- Why it waits: a code, its values, and the whole sentence.
  hold_code text,
  hold_detail text check (length(hold_detail) <= 200),
  reason text check (length(reason) <= 300),
  -- The payer can contest until `not_before`. A contested payout waits until the payer signs or an arbiter decides.
  not_before timestamptz,
  contested_at timestamptz constraint payouts_contested check (contested_at is null or kind = 'payout'),
  -- A payout above the caps leaves with an approval.
  approval_id text,
  approved_at timestamptz,
  counts_against_caps boolean not null default true,
  -- Since when it is authorized, which says the hour of `payout_counters` that counts it.
  counted_at timestamptz,
  -- Solana: whether the treasury opens the payee's token account.
  opens_account boolean not null default false,
  final_reference text,
  -- The agent that is notified by an event how it ended.
  notified_agent text references agents (id),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  due_at timestamptz not null,
  constraint payouts_once unique (kind, subject),
  constraint payouts_unmatched check ((unmatched_transfer is null) = (unmatched_from is null)
    and case kind when 'surplus' then (purpose is null) = (unmatched_transfer is not null)
      else unmatched_transfer is null end),
  constraint payouts_payee check (payee is not null or state in ('failed', 'withdrawn')),
  -- Only a worker counts a payout: the api can write none of these states.
  constraint payouts_counted check (counted_at is null or state in ('signed', 'final')),
  constraint payouts_final check ((state = 'final') = (final_reference is not null)),
  constraint payouts_reason check (state not in ('held', 'failed') or reason is not null),
  constraint payouts_hold_code check (hold_code in (
    'not_compared', 'not_counted', 'providers_disagree', 'treasury_short', 'payouts_frozen', 'network_frozen',
    'fee_above_cap', 'fee_balance_low', 'contest_window', 'contested', 'payment_not_final', 'payout_cap', 'payee_cap',
    'daily_cap', 'balance_low', 'transfer_mismatch', 'authorization_alive', 'broadcast_error', 'no_address', 'below_account_minimum', 'payee_account_closed', 'below_minimum', 'gas_budget', 'not_funded',
    'order_mismatch', 'new_address', 'screened', 'screening_unavailable', 'other')),
  constraint payouts_hold check (case
    when state = 'held' then hold_code is not null
    when state in ('signed', 'failed') then true
    else hold_code is null end),
  constraint payouts_approval check ((approval_id is null) = (approved_at is null) and length(approval_id) <= 100)
);
create index payouts_due on payouts (due_at) where state in ('queued', 'held', 'signed');
-- A payment that becomes final wakes the payouts that it funds.
create index payouts_unsent_for on payouts (purpose) where state in ('queued', 'held');
create index payouts_of_day on payouts (network, updated_at) where state = 'final';
create index payouts_failed on payouts (network, updated_at) where state = 'failed';
create index payouts_held_or_failed on payouts (state, created_at) where state in ('held', 'failed');
create index payouts_held_of_agent on payouts (agent_id) where state = 'held';
create index payouts_of_agent on payouts (agent_id, created_at desc, id desc) where agent_id is not null;
create index payouts_pending_of_agent on payouts (agent_id, network) include (amount_micros)
  where agent_id is not null and state in ('queued', 'held', 'signed', 'failed');
create index payouts_by_mark on payouts (mark);
create index payouts_to_cold on payouts (network) where kind = 'move_to_cold';
create index payouts_to_venue on payouts (network) where kind = 'move_to_venue';

-- `packages/money/src/payouts/states.ts` has the same transitions, and a test compares them.
create function check_payout_transition() returns trigger language plpgsql as $$
begin
  if (old.state, new.state) not in (
    ('queued', 'held'), ('queued', 'signed'), ('queued', 'final'), ('queued', 'failed'), ('queued', 'withdrawn'),
    ('held', 'signed'), ('held', 'final'), ('held', 'failed'), ('held', 'withdrawn'),
    ('signed', 'final'), ('signed', 'failed'),
    ('failed', 'queued'), ('failed', 'withdrawn'),
    ('withdrawn', 'queued'), ('withdrawn', 'failed')
  ) then
    raise exception 'payout % cannot change from % to %', old.id, old.state, new.state
      using errcode = 'check_violation', constraint = 'payouts_transition';
  end if;
  return new;
end $$;
create trigger payouts_transition before update of state on payouts
  for each row when (old.state is distinct from new.state) execute function check_payout_transition();

-- What the treasury signed: a transaction on Solana, an authorization that any account can submit on EVM.
create table payout_signatures (
  network text not null,
  -- Solana: the transaction. EVM: the digest that was signed.
  reference text not null,
  -- Solana: which payment of the transaction it is.
  transfer_index integer not null default 0 check (transfer_index >= 0),
  payout_id text not null references payouts (id),
  round integer not null default 1 check (round > 0),
  n integer not null check (n > 0),
  bytes text not null,
  -- The last height (Solana) or second of block time (EVM) at which it can be executed.
  valid_to bigint not null,
  -- EVM: when a gas account sends it next; null while its payout is in a block, and without an authorization to send.
  submit_at timestamptz check (submit_at is null or network <> 'solana-mainnet'),
  -- Solana: can no longer take effect, and did not. EVM: a later one replaces it, and it may take effect until it expires.
  is_dead boolean not null default false,
  created_at timestamptz not null,
  -- A payment is of one payout, whichever transaction makes it.
  primary key (network, reference, transfer_index),
  constraint payout_signatures_n unique (payout_id, round, n)
);
-- On Solana the database itself forbids two signatures of one payout that could both take effect. On EVM the chain does.
create unique index payout_signatures_one_live on payout_signatures (payout_id)
  where network = 'solana-mainnet' and not is_dead;
create index payout_signatures_to_submit on payout_signatures (network, submit_at) where submit_at is not null;

-- EVM: the newest transaction of each gas account, which carries payouts.
create table payout_batches (
  network text not null check (network in ('base-mainnet', 'alt-mainnet')),
  account text not null check (length(account) = 42),
  nonce bigint not null check (nonce >= 0),
  -- Null and fees of 0 when no node took it.
  reference text,
  max_fee_per_gas bigint not null,
  max_priority_fee_per_gas bigint not null,
  sent_at timestamptz not null,
  primary key (network, account)
);

-- EVM: the account that signs a network's payouts. Another one could pay them again.
create table payout_treasuries (
  network text primary key check (network in ('base-mainnet', 'alt-mainnet')),
  treasury text not null check (length(treasury) = 42)
);

-- Which transfers into the treasury a payout is paid from. Written by the worker when it authorizes a payout, so that all
-- payouts of a transfer together never exceed it, whatever orders and purposes say. A move to a venue has many.
create table payout_transfers (
  payout_id text references payouts (id),
  network text not null,
  reference text not null,
  transfer_index integer not null,
  amount_micros bigint not null check (amount_micros > 0),
  primary key (payout_id, network, reference, transfer_index),
  foreign key (network, reference, transfer_index) references transfers (network, reference, transfer_index)
);
create index payout_transfers_of_transfer on payout_transfers (network, reference, transfer_index);

-- The treasury pays the rent of a token account once per agent, because the payee can close it and keep the rent.
create table opened_token_accounts (
  agent_id text primary key,
  payee text not null,
  payout_id text not null,
  opened_at timestamptz not null
);

-- What a round of a payout costs in the native coin: the estimate when it is authorized, the real cost once it is final.
create table payout_costs (
  payout_id text not null,
  round integer not null,
  network text not null,
  native numeric(40, 0) not null check (native >= 0),
  at timestamptz not null,
  primary key (payout_id, round)
);

-- What limits payouts, by hour, in which they were authorized: sums over `payouts` and `payout_costs` that every transaction
-- which changes one of these rows keeps (packages/money/src/payouts/counters/counters.ts).
create table payout_counters (
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- The whole network, `payee:<address>` or `agent:<id>`.
  scope text not null check (scope in ('*', 'earn') or scope ~ '^(payee|agent):.+$'),
  hour timestamptz not null check (extract(epoch from hour) % 3600 = 0),
  -- What counts against the caps, and the part of it that is not final.
  capped_micros bigint not null default 0 check (capped_micros >= 0),
  capped_in_flight_micros bigint not null default 0 check (capped_in_flight_micros between 0 and capped_micros),
  -- Authorized and not final, whether it counts against the caps or not.
  in_flight_micros bigint not null default 0 check (in_flight_micros >= 0),
  -- The native coin that they cost.
  native numeric(40, 0) not null default 0 check (native >= 0),
  -- Indexed instead of the amounts, so that an update of a busy row leaves the indexes as they are.
  has_in_flight boolean not null generated always as (in_flight_micros > 0 or capped_in_flight_micros > 0) stored,
  primary key (network, scope, hour),
  check (scope = '*' or (in_flight_micros, native) = (0, 0))
) with (fillfactor = 50);
-- Payouts are in flight for minutes, so these are a few hours, however many there were.
create index payout_counters_in_flight on payout_counters (network, scope) where has_in_flight;

-- What was paid to an agent, added by the worker in the transaction that makes a payout final.
create table payout_totals (
  agent_id text not null,
  network text not null,
  paid_out_micros bigint not null check (paid_out_micros > 0),
  primary key (agent_id, network)
);

-- Payments out of the treasuries as the chains show them, ours or not. A restored database finds here what it no longer knows
-- it has paid.
create table outgoing_transfers (
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  reference text not null check (length(reference) between 64 and 88),
  -- A transaction can make many payments.
  transfer_index integer not null check (transfer_index >= 0),
  -- `payouts.mark` of the payout that it names; null for a payment that we did not make.
  mark text check (length(mark) between 1 and 100),
  payee text check (length(payee) between 32 and 44),
  amount_micros bigint not null check (amount_micros > 0),
  block_height bigint not null,
  block_hash text not null,
  happened_at timestamptz not null,
  is_final boolean not null,
  -- When it was written off, because its payout is not known: as a loss of the platform, or paired with a transfer.
  written_off_at timestamptz,
  -- `transfers.subject` of the transfer whose money in suspense it was charged to; null when the fees paid it.
  paired_with text check (length(paired_with) between 64 and 93),
  created_at timestamptz not null,
  -- When it was first read, by the database's time: how long a payout takes to be posted is real time.
  read_at timestamptz not null default now(),
  primary key (network, reference, transfer_index),
  constraint outgoing_transfers_paired check (paired_with is null or written_off_at is not null)
);
create index outgoing_transfers_by_mark on outgoing_transfers (mark) where mark is not null;
create index outgoing_transfers_by_height on outgoing_transfers (network, block_height);
create index outgoing_transfers_by_pair on outgoing_transfers (network, paired_with) where paired_with is not null;

-- Per network, whether payouts may leave. No row, no payouts.
create table payout_guards (
  network text primary key check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  -- The epoch of this database that is compared with the chain: a restored or restarted database begins another.
  database_epoch text not null check (length(database_epoch) between 1 and 200),
  -- Nothing signed before this epoch can take effect in a block above this one.
  horizon bigint not null,
  -- EVM: until when, in block time, what an earlier epoch signed can be executed. Null when all that it paid is known.
  alive_until timestamptz,
  -- Of the money that was received up to this block it can have paid something.
  alive_height bigint,
  -- A payment that was claimed after this can have paid for something else in an earlier epoch.
  claims_known_until timestamptz,
  -- Since when all that left before this epoch is known here; null while it is not.
  compared_at timestamptz,
  -- The epoch in which the treasury was last counted; null where nobody ever counts it.
  counted_epoch text check (length(counted_epoch) between 1 and 200),
  -- Since when the treasury holds less than it must, and by how much.
  short_since timestamptz,
  short_micros bigint not null default 0 check (short_micros >= 0),
  -- Which providers show which balance, while they disagree whether money is missing; payouts wait meanwhile.
  disagreement text check (length(disagreement) between 1 and 200),
  updated_at timestamptz not null,
  -- When a reading ended last, by the database's time.
  read_at timestamptz,
  check ((short_since is null) = (short_micros = 0)),
  constraint payout_guards_alive check (
    (alive_until is null) = (alive_height is null) and (alive_until is null) = (claims_known_until is null))
);

-- What the role of the api may do with payouts. It requests one in the transaction of the decision, so that neither can exist
-- without the other; the database accepts only a request that an order, a transfer or an approval requires and the ledger
-- holds. It is checked at the commit. The worker checks again before it signs (packages/money/src/payouts).

-- The api requests, withdraws and retries payouts. Everything that follows belongs to the worker.
create function check_payout_of_api() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.state not in ('queued', 'held', 'failed', 'withdrawn')
    or new.final_reference is not null or (tg_op = 'INSERT' and new.state not in ('queued', 'failed'))
    or (tg_op = 'UPDATE' and old.state not in ('queued', 'held', 'failed', 'withdrawn'))
    -- What names it on the chain is the worker's.
    or (tg_op = 'INSERT' and (new.round, new.mark_round) <> (1, 1))
    or (tg_op = 'UPDATE' and (new.mark_round <> old.mark_round or new.round not between old.round and old.round + 1)) then
    raise exception 'the api cannot make payout % %', new.id, new.state
      using errcode = 'insufficient_privilege', constraint = 'payouts_of_api';
  end if;
  -- Without a purpose the worker could not derive what is due.
  if tg_op = 'INSERT' and new.kind in ('payout', 'refund') and new.purpose is null then
    raise exception 'payout % needs a purpose', new.id
      using errcode = 'insufficient_privilege', constraint = 'payouts_of_api';
  end if;
  return new;
end $$;
create trigger payouts_of_api before insert or update on payouts
  for each row when (current_user = 'market_api') execute function check_payout_of_api();

-- Whether an order, a transfer or an approval requires a payout. Its address is left to the worker where an agent chose it.
-- Never a payout of Earn: the worker alone requests those.
create function is_payout_required(payout payouts) returns boolean language plpgsql stable
  set search_path = public, pg_temp as $$
declare
  paid transfers;
  ended orders;
  may_go_elsewhere boolean := exists (
    select from approvals where kind = 'redirect_payout' and subject = payout.id and state = 'approved');
begin
  if payout.kind in ('fee_withdrawal', 'move_to_cold') then
    return exists (
      select from approvals where id = payout.subject and state = 'approved' and payload ->> 'network' = payout.network
        and kind = case payout.kind when 'fee_withdrawal' then 'withdraw_fees' else 'move_to_cold' end);
  end if;
  if payout.purpose is null then
    select * into paid from transfers where network = payout.network and state = 'final'
      and subject = payout.unmatched_transfer;
    return paid.network is not null and payout.kind = 'surplus' and (paid.payer = payout.payee or may_go_elsewhere or exists (
      select from approvals where kind = 'refund_unmatched' and state = 'approved'
        and subject = payout.unmatched_from || ':' || paid.network || ':' || paid.subject));
  end if;
  select * into paid from transfers where purpose = payout.purpose and purpose <> '' and state <> 'gone';
  if paid.network is distinct from payout.network then
    return false;
  end if;
  if payout.kind = 'surplus' then
    return payout.amount_micros = paid.amount_micros - paid.due_micros and (paid.payer = payout.payee or may_go_elsewhere);
  end if;
  if payout.kind = 'refund' and paid.payer is distinct from payout.payee and not may_go_elsewhere then
    return false;
  end if;
  if payout.purpose = 'registration:' || payout.subject then
    return payout.kind = 'refund' and payout.amount_micros = paid.due_micros;
  end if;
  if payout.purpose = 'bounty:' || payout.subject then
    return payout.kind = 'refund' and payout.amount_micros = paid.due_micros
      and exists (select from payment_intents where purpose_kind = 'bounty' and purpose_id = payout.subject
        and scope is not null and status = 'refunded');
  end if;
  select * into ended from orders where id = payout.subject and payout.purpose = 'order:' || id;
  return coalesce(case payout.kind
    when 'payout' then ended.status = 'completed'
      and payout.amount_micros <= least(paid.due_micros, ended.agent_part_micros)
    else ended.status in ('completed', 'cancelled')
      and payout.amount_micros <= paid.due_micros - ended.agent_part_micros end, false);
end $$;

create function refuse_request_of_api(id text, why text) returns void language plpgsql as $$
begin
  raise exception 'the api cannot request payout %: %', id, why
    using errcode = 'insufficient_privilege', constraint = 'payouts_of_api';
end $$;

create function check_request_of_api() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  payout payouts;
begin
  -- One that was withdrawn can be requested again for another agent, before any of it counts against the caps.
  if tg_op = 'UPDATE' and ((old.id, old.kind, old.subject, old.unmatched_from, old.unmatched_transfer)
      is distinct from (new.id, new.kind, new.subject, new.unmatched_from, new.unmatched_transfer)
    or (old.state <> 'withdrawn' and old.agent_id is distinct from new.agent_id)) then
    perform refuse_request_of_api(old.id, 'it becomes another payout');
  end if;
  select * into payout from payouts where id = new.id;
  -- Requested and withdrawn by one transaction, or a worker has taken it over.
  if payout.state not in ('queued', 'held', 'failed') then
    return null;
  end if;
  if not is_payout_required(payout) then
    perform refuse_request_of_api(payout.id, 'nothing requires it');
  end if;
  if not exists (
    select from ledger_accounts
    where id = 'payable:' || payout.network || ':' || payout.id and balance_micros = payout.amount_micros
  ) then
    perform refuse_request_of_api(payout.id, 'the ledger does not hold its amount');
  end if;
  return null;
end $$;
create constraint trigger payouts_requested_by_api after insert on payouts deferrable initially deferred
  for each row when (current_user = 'market_api') execute function check_request_of_api();
create constraint trigger payouts_changed_by_api after update on payouts deferrable initially deferred
  for each row when (current_user = 'market_api' and (old.state = 'withdrawn'
    or (old.id, old.kind, old.subject, old.agent_id, old.network, old.purpose, old.payee, old.amount_micros, old.approval_id)
      is distinct from
      (new.id, new.kind, new.subject, new.agent_id, new.network, new.purpose, new.payee, new.amount_micros, new.approval_id)))
  execute function check_request_of_api();

-- The api moves money to `payable` only for a payout that waits and from where its kind is paid, and away from it only
-- when the payout is withdrawn.
create function check_payable_move_of_api() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  payout payouts;
begin
  select * into payout from payouts where id = split_part(new.account_id, ':', 3);
  if payout.id is null or payout.state not in ('queued', 'held', 'failed', 'withdrawn') then
    perform refuse_request_of_api(new.account_id, 'no payout waits for this money');
  end if;
  if not exists (
    select from ledger_accounts where id = new.account_id
      and balance_micros = case payout.state when 'withdrawn' then 0 else payout.amount_micros end
  ) then
    perform refuse_request_of_api(payout.id, 'the ledger holds another amount for it');
  end if;
  if new.amount_micros > 0 and exists (
    select from ledger_moves as source
    where source.journal_id = new.journal_id and source.at = new.at and source.amount_micros < 0
      and not case payout.kind
        when 'surplus' then split_part(source.account_id, ':', 1) in ('surplus', 'suspense')
        when 'fee_withdrawal' then split_part(source.account_id, ':', 1) = 'fees'
        when 'move_to_cold' then split_part(source.account_id, ':', 1) = 'cold'
        else source.account_id = 'escrow:' || payout.network || ':' || payout.purpose end
  ) then
    perform refuse_request_of_api(payout.id, 'its money belongs to something else');
  end if;
  return null;
end $$;
create constraint trigger ledger_moves_payable_of_api after insert on ledger_moves deferrable initially deferred
  for each row when (current_user = 'market_api' and new.account_id like 'payable:%')
  execute function check_payable_move_of_api();
