-- In a transaction of its own: reading every row takes no lock that blocks reads or writes.
alter table payouts validate constraint payouts_kind_check;
