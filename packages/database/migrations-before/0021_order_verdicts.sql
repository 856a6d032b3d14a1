-- The decision about an order's money is a column, and a payout is signed only when the ledger and its order require it.

-- Addresses that an agent had before, and decisions of arbiters, are read from here.
create index audit_log_of_act on audit_log (act, subject);

alter table payouts drop constraint payouts_hold_code;
alter table payouts add constraint payouts_hold_code check (hold_code in (
  'not_compared', 'not_counted', 'treasury_short', 'payouts_frozen', 'network_frozen', 'fee_above_cap',
  'fee_balance_low', 'not_before', 'payment_not_final', 'payout_cap', 'payee_cap', 'daily_cap', 'balance_low',
  'history_unread', 'nonce_mismatch', 'transfer_mismatch', 'nonce_reserved', 'nonce_used', 'broadcast_error',
  'no_address', 'below_account_minimum', 'payee_account_closed', 'gas_budget', 'not_funded', 'order_mismatch',
  'other')) not valid;

-- A payout that the ledger does not fund is held even after it has a nonce, which it keeps.
create or replace function payout_transition_allowed(from_state text, to_state text) returns boolean
  language sql immutable strict parallel safe
  return (from_state, to_state) in (
    ('queued', 'held'), ('queued', 'nonce_assigned'), ('queued', 'signed'), ('queued', 'final'), ('queued', 'failed'),
    ('queued', 'withdrawn'),
    ('held', 'nonce_assigned'), ('held', 'signed'), ('held', 'final'), ('held', 'failed'), ('held', 'withdrawn'),
    ('nonce_assigned', 'held'), ('nonce_assigned', 'signed'), ('nonce_assigned', 'final'),
    ('signed', 'queued'), ('signed', 'final'), ('signed', 'failed'),
    ('failed', 'queued'), ('failed', 'withdrawn'),
    ('withdrawn', 'queued'), ('withdrawn', 'failed')
  );

-- The agent's part of the price in basis points; null until somebody decides.
alter table orders add column agent_share_bps integer check (agent_share_bps between 0 and 10000);
-- Of orders that ended before, only a split must be copied: `outcome` implies the others.
update orders set agent_share_bps = split.bps from (
  select distinct on (subject) subject, (details ->> 'agentShareBps')::integer as bps
  from audit_log where act = 'order.split' order by subject, seq desc
) as split where orders.id = split.subject and orders.outcome = 'split';
-- Not validated, because that would read the whole table under its lock. New and changed rows are checked.
alter table orders add constraint orders_verdict check (case outcome
  when 'released' then agent_share_bps = 10000
  when 'split' then agent_share_bps between 1 and 9999
  when 'refunded' then agent_share_bps = 0
  when 'unpaid' then agent_share_bps = 0
  else true end and (outcome is null or agent_share_bps is not null)) not valid;
