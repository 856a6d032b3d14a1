-- Every write takes the writers' shared lock and then reads the emergency switches. One call does both. The function is
-- volatile, so that its SELECT uses a snapshot taken after the lock was granted: a switch that was committed while this
-- write waited is seen.
create function join_writers(lock_key bigint) returns text[]
language plpgsql volatile as $$
declare
  switches_on text[];
begin
  perform pg_advisory_xact_lock_shared(lock_key);
  select coalesce(array_agg(name), '{}') into switches_on from switches where on_since is not null;
  return switches_on;
end
$$;
