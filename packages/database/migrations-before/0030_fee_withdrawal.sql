-- Fees leave as a payout of their own kind, to an address of the configuration; they are not a loss.
alter table payouts drop constraint payouts_kind_check;
alter table payouts add constraint payouts_kind_check
  check (kind in ('payout', 'refund', 'surplus', 'fee_withdrawal')) not valid;
