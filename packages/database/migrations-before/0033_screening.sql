-- Payouts whose payee or payer is on a list of addresses wait with codes of their own.
-- Not validated, because that reads every row under the lock: the constraint before allowed fewer codes.
alter table payouts drop constraint payouts_hold_code;
alter table payouts add constraint payouts_hold_code check (hold_code in (
  'not_compared', 'not_counted', 'providers_disagree', 'treasury_short', 'payouts_frozen', 'network_frozen',
  'fee_above_cap', 'fee_balance_low', 'contest_window', 'contested', 'payment_not_final', 'payout_cap', 'payee_cap',
  'daily_cap', 'balance_low', 'history_unread', 'nonce_mismatch', 'transfer_mismatch', 'nonce_reserved', 'nonce_used',
  'broadcast_error', 'no_address', 'below_account_minimum', 'payee_account_closed', 'gas_budget', 'not_funded',
  'order_mismatch', 'screened', 'screening_unavailable', 'other')) not valid;
