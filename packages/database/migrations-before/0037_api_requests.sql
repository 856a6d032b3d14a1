-- What the role of the api may do with money. It requests a payout in the transaction of the decision, so that neither can
-- exist without the other; the database accepts only a request that an order, a transfer or an approval requires and the
-- ledger holds. Everything is checked at the commit. The worker checks again before it signs (packages/money/src/payouts).

-- What each transfer into the treasury has been paid out for. Written by the worker when it authorizes a payout, so that all
-- payouts of a transfer together never exceed it, whatever orders and purposes say.
create table payout_transfers (
  payout_id text primary key references payouts (id),
  network text not null,
  reference text not null,
  transfer_index integer not null,
  amount_micros bigint not null check (amount_micros > 0),
  foreign key (network, reference, transfer_index) references transfers (network, reference, transfer_index)
);
create index payout_transfers_of_transfer on payout_transfers (network, reference, transfer_index);
insert into payout_transfers (payout_id, network, reference, transfer_index, amount_micros)
  select payout.id, paid.network, paid.reference, paid.transfer_index, payout.amount_micros
  from payouts as payout join transfers as paid on paid.purpose = payout.purpose and paid.purpose <> '' and paid.state <> 'gone'
  where payout.state in ('nonce_assigned', 'signed', 'final') and payout.network = paid.network;

-- Whether an order, a transfer or an approval requires a payout. Its address is left to the worker where an agent chose it.
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
      and subject = regexp_replace(payout.subject, '^(suspense|surplus):((base|alt):)?', '');
    return paid.network is not null and payout.kind = 'surplus' and (paid.payer = payout.payee or may_go_elsewhere or exists (
      select from approvals where kind = 'refund_unmatched' and state = 'approved'
        and subject = split_part(payout.subject, ':', 1) || ':' || paid.network || ':' || paid.subject));
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
  select * into ended from orders where id = payout.subject and payout.purpose = 'order:' || id;
  return coalesce(case payout.kind
    when 'payout' then ended.status = 'completed'
      and payout.amount_micros * 10000 <= paid.due_micros * ended.agent_share_bps
    else ended.status in ('completed', 'cancelled')
      and (payout.amount_micros - 1) * 10000 < paid.due_micros * (10000 - ended.agent_share_bps) end, false);
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
  if tg_op = 'UPDATE' and (old.id, old.kind, old.subject) is distinct from (new.id, new.kind, new.subject) then
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
    or (old.id, old.kind, old.subject, old.network, old.purpose, old.payee, old.amount_micros, old.approval_id)
      is distinct from
      (new.id, new.kind, new.subject, new.network, new.purpose, new.payee, new.amount_micros, new.approval_id)))
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

-- A transfer becomes final by a worker that has asked the chain, and stays as the chain showed it. Where its payer was unknown,
-- it can be seen again with its payer, which the worker then verifies.
create function check_transfer_of_api() returns trigger language plpgsql as $$
begin
  if new.is_whole and (tg_op = 'INSERT' or not old.is_whole)
    or new.state = 'final' and (tg_op = 'INSERT' or old.state <> 'final') then
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

-- A table of the same name in a temporary schema must not stand in for one that a check reads.
alter function check_journal() set search_path = public, pg_temp;
alter function check_payout_of_api() set search_path = public, pg_temp;
