-- When autovacuum comes to the tables that grow with the orders and whose rows change or are deleted. By default it comes after a
-- fifth of the rows is dead, and analyzes after a tenth has changed: in a table with 5,000,000 rows that is a million dead rows, which
-- indexes still lead to. Here a fiftieth is enough for both: 100,000. In small tables, such as the clock of the sweeps or those of the
-- job engine, a fifth is reached within a minute. In the months of events and of the ledger nothing changes.

-- Their rows change with the steps of an order. Sweeps look every second by indexes on what changes (`due_at`, `state`), so the dead
-- entries in front of the first live one cost every search.
alter table orders set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table payment_intents set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table transfers set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table payouts set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table purchases set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- A few rows of many are written by every order or payout: accounts of the treasury and of fees, counters of this hour.
alter table ledger_accounts set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table payout_counters set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- One row per agent, listing or recipient, which each of their orders changes.
alter table agents set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table agent_statistics set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table listings set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table event_counters set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table buyer_event_counters set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table delivery_queues set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table unread_counters set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Sweeps delete what is too old (docs/operations/retention.md), from the front of an index. Of 90 days, one day is a ninetieth: by default
-- its dead rows would lie there for more than two weeks.
alter table notifications set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table activity set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table oauth_records set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table sessions set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table reserve_leaves set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- All rows of these are new within a day or within seconds, so the space is soon used again. Giving it back to the disk would end
-- a vacuum with an exclusive lock, for which requests wait.
alter table requests set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_truncate = false);
alter table used_signatures set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_truncate = false);
alter table statistic_changes set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, vacuum_truncate = false);

-- Each delivery changes with every attempt. A partitioned table has no such settings, so each month has them; `make_month` gives
-- later months those of the default partition.
do $$
declare
  month regclass;
begin
  for month in select inhrelid::regclass from pg_inherits where inhparent = 'deliveries'::regclass loop
    execute format(
      'alter table %s set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)', month);
  end loop;
end $$;
