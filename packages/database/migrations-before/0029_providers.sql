-- Providers that contradict each other, payments that are not final, and numbers that order readings and holds.

-- Which providers show which balance, while they disagree whether money is missing; payouts wait meanwhile.
alter table payout_guards add column disagreement text check (length(disagreement) between 1 and 200);
-- Readings of outgoing transfers are numbered when they begin. Clocks of workers differ, these numbers do not.
alter table payout_guards add column readings_begun bigint not null default 0;
alter table payout_guards add column newest_reading bigint not null default 0;
-- How many readings had begun when the payout was held until a later one is complete.
alter table payouts add column held_at_reading bigint;

-- The part of the liabilities that comes from payments that are not final.
alter table reserve_snapshots add column unfinal_micros bigint not null default 0 check (unfinal_micros >= 0);

-- Not validated, because that reads every row under the lock: the constraint before allowed fewer codes.
alter table payouts drop constraint payouts_hold_code;
alter table payouts add constraint payouts_hold_code check (hold_code in (
  'not_compared', 'not_counted', 'providers_disagree', 'treasury_short', 'payouts_frozen', 'network_frozen',
  'fee_above_cap', 'fee_balance_low', 'contest_window', 'contested', 'payment_not_final', 'payout_cap', 'payee_cap',
  'daily_cap', 'balance_low', 'history_unread', 'nonce_mismatch', 'transfer_mismatch', 'nonce_reserved', 'nonce_used',
  'broadcast_error', 'no_address', 'below_account_minimum', 'payee_account_closed', 'gas_budget', 'not_funded',
  'order_mismatch', 'other')) not valid;
