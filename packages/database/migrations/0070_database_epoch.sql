-- After a restart, a restore or a promotion the database may have lost its last rows: a new database epoch begins. What an
-- earlier epoch began may be on a chain already although no row says so.

-- Changes after a restart, a recovery to an earlier time or the promotion of a replica (start time of the server), after a
-- restore into another or the same database (ids of database and table), and after a rewrite of the table (its file).
create function database_epoch() returns text language sql stable as $$
  select concat_ws('/', extract(epoch from pg_postmaster_start_time()), database.oid,
    'public.payouts'::regclass::oid, pg_relation_filenode('public.payouts'))
  from pg_database as database where database.datname = current_database()
$$;

-- The epoch in which what the switch stops was last allowed. In another one the switch is on until an operator turns it off.
alter table switches add column database_epoch text;
-- compatible: the same signature; without an epoch in the table it returns the same names
create or replace function join_writers(lock_key bigint) returns text[]
language plpgsql volatile as $$
declare
  switches_on text[];
begin
  perform pg_advisory_xact_lock_shared(lock_key);
  select coalesce(array_agg(name), '{}') into switches_on
  from switches where on_since is not null or database_epoch <> (select database_epoch());
  return switches_on;
end
$$;

-- The epoch in which the operation was requested. In a later one it is not signed any more.
alter table wallet_operations add column database_epoch text not null default 'unknown';
alter table wallet_operations alter column database_epoch set default database_epoch();
alter table wallet_operations drop constraint wallet_operations_failure_check, add constraint wallet_operations_failure_check
  check (failure in (
    'underfunded', 'cap_exceeded', 'not_withdraw_address', 'owner_not_verified', 'bad_destination', 'rejected_on_chain',
    'bad_metadata', 'expired', 'outcome_unknown'
  )) not valid;

-- The epoch of a lease. One of an earlier epoch is free: its transaction is over.
alter table requests add column database_epoch text not null default 'unknown';
alter table requests alter column database_epoch set default database_epoch();
alter table delivery_queues add column database_epoch text not null default 'unknown';
alter table delivery_queues alter column database_epoch set default database_epoch();
alter table purchases add column database_epoch text not null default 'unknown';
alter table purchases alter column database_epoch set default database_epoch();

-- The epoch of the last number. The first number of a later epoch is the time in milliseconds, so that no number which was
-- lost is assigned again.
alter table event_counters add column database_epoch text not null default 'unknown';
alter table event_counters alter column database_epoch set default database_epoch();
alter table buyer_event_counters add column database_epoch text not null default 'unknown';
alter table buyer_event_counters alter column database_epoch set default database_epoch();
