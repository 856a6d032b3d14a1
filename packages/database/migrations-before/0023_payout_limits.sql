-- Caps per payee, approvals above them, token accounts that the treasury opened, and the native coin that payouts cost.

alter table payouts add column agent_id text;
alter table payouts add column approval_id text;
alter table payouts add column approved_at timestamptz;
alter table payouts add column counts_against_caps boolean not null default true;
alter table payouts add column opens_account boolean not null default false;
alter table payouts add constraint payouts_approval
  check ((approval_id is null) = (approved_at is null) and length(approval_id) <= 100) not valid;
alter table payouts drop constraint payouts_hold_code;
alter table payouts add constraint payouts_hold_code check (hold_code in (
  'not_compared', 'not_counted', 'treasury_short', 'payouts_frozen', 'network_frozen', 'fee_above_cap',
  'fee_balance_low', 'not_before', 'payment_not_final', 'payout_cap', 'payee_cap', 'daily_cap', 'balance_low',
  'history_unread', 'nonce_mismatch', 'transfer_mismatch', 'nonce_reserved', 'nonce_used', 'broadcast_error',
  'no_address', 'below_account_minimum', 'payee_account_closed', 'gas_budget', 'not_funded', 'order_mismatch',
  'other')) not valid;

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
create index payout_costs_of_day on payout_costs (network, at);
