-- In a transaction of its own: reading every row takes no lock that blocks reads or writes.
alter table payouts validate constraint payouts_kind_check;
alter table ledger_accounts validate constraint ledger_accounts_kind_check;
alter table ledger_accounts validate constraint ledger_accounts_sign;
