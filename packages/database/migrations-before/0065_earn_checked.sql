-- Validates what 0064 added without checking the rows that existed.
alter table payment_intents validate constraint payment_intents_purpose_kind_check;
alter table payouts validate constraint payouts_kind_check;
alter table ledger_accounts validate constraint ledger_accounts_kind_check;
alter table ledger_accounts validate constraint ledger_accounts_sign;
