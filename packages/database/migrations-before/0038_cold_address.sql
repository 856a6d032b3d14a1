-- The treasury keeps at most a configured amount; the rest goes to a cold address, as a payout of its own kind.
alter table payouts drop constraint payouts_kind_check;
alter table payouts add constraint payouts_kind_check
  check (kind in ('payout', 'refund', 'surplus', 'fee_withdrawal', 'move_to_cold')) not valid;
create index payouts_to_cold on payouts (network) where kind = 'move_to_cold';

-- What a cold address holds is, like what the treasury holds, a balance below zero.
alter table ledger_accounts drop constraint ledger_accounts_kind_check;
alter table ledger_accounts add constraint ledger_accounts_kind_check
  check (kind in ('world', 'cold', 'escrow', 'payable', 'fees', 'suspense', 'surplus')) not valid;
alter table ledger_accounts drop constraint ledger_accounts_sign;
alter table ledger_accounts add constraint ledger_accounts_sign
  check (may_be_negative = (kind in ('world', 'cold'))) not valid;

-- Null in snapshots of a network without a cold address. The other sums include what it holds.
alter table reserve_snapshots add column cold_address text;
alter table reserve_snapshots add column cold_micros bigint;
alter table reserve_snapshots add constraint reserve_snapshots_cold
  check ((cold_address is null) = (cold_micros is null) and cold_micros >= 0);
