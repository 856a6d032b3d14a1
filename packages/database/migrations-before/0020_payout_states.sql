-- The state table of payouts (packages/money/src/payouts/states.ts), and codes for why a payout waits.

drop index payouts_due;
alter table payouts drop constraint payouts_state_check;
update payouts set state = 'nonce_assigned' where state = 'numbered';
alter table payouts add constraint payouts_state_check
  check (state in ('queued', 'held', 'nonce_assigned', 'signed', 'final', 'failed', 'withdrawn'));
create index payouts_due on payouts (due_at) where state in ('queued', 'held', 'nonce_assigned', 'signed');

create function payout_transition_allowed(from_state text, to_state text) returns boolean
  language sql immutable strict parallel safe
  return (from_state, to_state) in (
    ('queued', 'held'), ('queued', 'nonce_assigned'), ('queued', 'signed'), ('queued', 'final'), ('queued', 'failed'),
    ('queued', 'withdrawn'),
    ('held', 'nonce_assigned'), ('held', 'signed'), ('held', 'final'), ('held', 'failed'), ('held', 'withdrawn'),
    ('nonce_assigned', 'signed'), ('nonce_assigned', 'final'),
    ('signed', 'queued'), ('signed', 'final'), ('signed', 'failed'),
    ('failed', 'queued'), ('failed', 'withdrawn'),
    ('withdrawn', 'queued'), ('withdrawn', 'failed')
  );

create function check_payout_transition() returns trigger language plpgsql as $$
begin
  if not payout_transition_allowed(old.state, new.state) then
    raise exception 'payout % cannot change from % to %', old.id, old.state, new.state
      using errcode = 'check_violation', constraint = 'payouts_transition';
  end if;
  return new;
end $$;

create trigger payouts_transition before update of state on payouts
  for each row when (old.state is distinct from new.state) execute function check_payout_transition();

-- Why a payout waits: a code, the values of the sentence, and (as before) the whole sentence in `reason`.
alter table payouts add column hold_code text;
alter table payouts add column hold_detail text check (length(hold_detail) <= 200);
update payouts set hold_code = case
  when state = 'failed' then 'no_address'
  when reason = 'Another payment of the treasury used its nonce' then 'nonce_used'
  when state = 'signed' then 'broadcast_error'
  when reason like 'Not yet compared with the chain%' then 'not_compared'
  when reason like 'The treasury was not yet counted%' then 'not_counted'
  when reason like 'The treasury is short by%' then 'treasury_short'
  when reason = 'Payouts are frozen' then 'payouts_frozen'
  when reason like 'Payouts on % are frozen' then 'network_frozen'
  when reason like 'Costs % to send, above the cap of %' then 'fee_above_cap'
  when reason like 'The treasury has not enough coin for fees%' then 'fee_balance_low'
  when reason like 'It leaves no earlier than%' then 'not_before'
  when reason like 'The payment it is paid from is not final yet%' then 'payment_not_final'
  when reason like 'Above the cap of % for one payout' then 'payout_cap'
  when reason like 'Above the cap of % for a day' then 'daily_cap'
  when reason like 'The treasury has too little%' then 'balance_low'
  when reason like 'What the treasury sent before is being read%' then 'history_unread'
  when reason like 'The chain counts % payments of the treasury%' then 'nonce_mismatch'
  when reason like '% shows a payment of it that is not its own%' then 'transfer_mismatch'
  when reason like 'It was paid with a nonce that another payout%' then 'nonce_reserved'
  else 'other' end
  where state = 'held' or (state = 'signed' and reason is not null)
    or (state = 'failed' and reason = 'There is no address to pay it to');
-- The error of the nodes is the detail: the worker compares it with the next one, and clears it when there is none.
update payouts set hold_detail = left(reason, 200) where hold_code = 'broadcast_error';
alter table payouts add constraint payouts_hold_code check (hold_code in (
  'not_compared', 'not_counted', 'treasury_short', 'payouts_frozen', 'network_frozen', 'fee_above_cap',
  'fee_balance_low', 'not_before', 'payment_not_final', 'payout_cap', 'daily_cap', 'balance_low', 'history_unread',
  'nonce_mismatch', 'transfer_mismatch', 'nonce_reserved', 'nonce_used', 'broadcast_error', 'no_address', 'other'));
alter table payouts add constraint payouts_hold check (case
  when state = 'held' then hold_code is not null
  when state in ('signed', 'failed') then true
  else hold_code is null end);
