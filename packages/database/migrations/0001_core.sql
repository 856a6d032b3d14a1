-- What every module uses: extensions, partitions by month, safe repetition of requests, switches, approvals and the audit log.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Our statements are short: compiling one takes longer than running it. It is set for the database, because a pooler
-- in transaction mode does not pass startup parameters on. Without the right to set it, statements are only slower.
do $$ begin
  execute format('alter database %I set jit = off', current_database());
exception when insufficient_privilege then
  raise warning 'jit stays on: only the owner of database % can turn it off', current_database();
end $$;

-- After a restart, a restore or a promotion the database may have lost its last rows: a new database epoch begins. What an
-- earlier epoch began may be on a chain already although no row says so. The epoch changes after a restart, a recovery to an
-- earlier time or the promotion of a replica (start time of the server), after a restore into another or the same database (ids of
-- database and table), and after a rewrite of the table (its file).
create function database_epoch() returns text language plpgsql stable as $$
begin
  return (
    select concat_ws('/', extract(epoch from pg_postmaster_start_time()), database.oid,
      'public.payouts'::regclass::oid, pg_relation_filenode('public.payouts'))
    from pg_database as database where database.datname = current_database()
  );
end $$;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

-- Tables that are partitioned by month. A row that no month holds yet lands in `<table>_other`, so an insert never fails for
-- want of a partition. These functions run as the owner, to whom the partitions belong.

-- Triggers by statement do not come with a partition, and TRUNCATE has no others.
create function guard_partition(parent text, partition text) returns void language plpgsql security definer
  set search_path = public, pg_temp as $$
declare
  guard record;
begin
  for guard in
    select tgname, tgfoid::regproc::text as refuse from pg_trigger
    where tgrelid = format('public.%I', parent)::regclass and not tgisinternal and tgtype & 32 > 0
  loop
    execute format(
      'create trigger %I before truncate on public.%I for each statement execute function %s()',
      guard.tgname, partition, guard.refuse
    );
  end loop;
end $$;

-- Creates the partition of a month in UTC unless it exists, and moves its rows there from the default partition. Meanwhile the
-- triggers of that one are off, under a lock that lets nobody else write there.
create function make_month(parent text, month date) returns void language plpgsql security definer
  set search_path = public, pg_temp as $$
declare
  name text := format('%s_%s', parent, to_char(month, 'YYYYMM'));
  other text := parent || '_other';
  first timestamptz := month::timestamp at time zone 'utc';
  next timestamptz := (month + interval '1 month')::timestamp at time zone 'utc';
  by_time text;
  settings text;
begin
  if to_regclass(format('public.%I', name)) is not null then
    return;
  end if;
  select attname into strict by_time from pg_partitioned_table
    join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
    where partrelid = format('public.%I', parent)::regclass;
  execute format('create table public.%I (like public.%I including all)', name, parent);
  -- `like` copies no settings of autovacuum.
  select array_to_string(reloptions, ', ') into settings from pg_class where oid = format('public.%I', other)::regclass;
  if settings is not null then
    execute format('alter table public.%I set (%s)', name, settings);
  end if;
  execute format('alter table public.%I disable trigger user', other);
  execute format(
    'with moved as (delete from public.%I where %I >= %L and %I < %L returning *) insert into public.%I select * from moved',
    other, by_time, first, by_time, next, name
  );
  execute format('alter table public.%I enable trigger user', other);
  execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, name, first, next);
  perform guard_partition(parent, name);
end $$;

create function drop_month(partition text) returns void language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  if partition !~ '^(events|buyer_events|deliveries)_[0-9]{6}$' then
    raise exception '% is not a month that may be dropped', partition using errcode = 'insufficient_privilege';
  end if;
  execute format('drop table if exists public.%I', partition);
end $$;

revoke execute on function make_month(text, date), guard_partition(text, text), drop_month(text) from public;

-- Requests with an Idempotency-Key, and their responses.
create table requests (
  scope text not null check (length(scope) between 1 and 300),
  key text not null check (length(key) between 1 and 128),
  operation text not null,
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  state text not null check (state in ('running', 'done')),
  -- Counts the processes that began it, so that one whose lease ran out cannot finish after its successor.
  attempt integer not null default 1 check (attempt > 0),
  leased_until timestamptz not null,
  -- A lease of an earlier epoch is free: its transaction is over.
  database_epoch text not null default database_epoch(),
  status integer check (status between 200 and 499),
  response_sealed bytea,
  created_at timestamptz not null,
  primary key (scope, key),
  check ((state = 'done') = (status is not null and response_sealed is not null))
);
create index requests_by_age on requests (created_at);

-- Signatures that were used; each counts once. The signature's bytes can be varied, so they are not the key.
create table used_signatures (
  wallet_key text not null,
  purpose text not null,
  signed_at_ms bigint not null,
  used_at timestamptz not null,
  primary key (wallet_key, purpose, signed_at_ms)
);
create index used_signatures_by_age on used_signatures (used_at);

-- Emergency switches. One without a row is off.
create table switches (
  name text primary key,
  on_since timestamptz,
  changed_at timestamptz not null,
  changed_by text not null,
  reason text not null check (length(reason) <= 500)
);

-- Every write takes the writers' shared lock and then reads the switches. One call does both. The function is volatile, so
-- that its SELECT uses a snapshot taken after the lock was granted: a switch that was committed while this write waited is seen.
create function join_writers(lock_key bigint) returns text[]
language plpgsql volatile as $$
declare
  switches_on text[];
begin
  perform pg_advisory_xact_lock_shared(lock_key);
  select coalesce(array_agg(name), '{}') into switches_on
  from switches where on_since is not null;
  return switches_on;
end
$$;

-- What moves money elsewhere is proposed by one operator and approved by another (packages/core/src/approvals).
create table approvals (
  id text primary key,
  kind text not null check (kind ~ '^[a-z_]{3,40}$'),
  payload jsonb not null check (jsonb_typeof(payload) = 'object'),
  -- What it is about: an order, a payout, unmatched money.
  subject text not null check (length(subject) between 1 and 200),
  -- What happens when it is approved, as a sentence for the second operator and for those it concerns.
  summary text not null check (length(summary) between 1 and 1000),
  reason text not null check (length(reason) between 3 and 500),
  proposer text not null,
  approver text,
  rejected_by text,
  state text not null default 'pending' check (state in ('pending', 'approved', 'rejected', 'expired')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  constraint approvals_two_people check (proposer <> approver),
  constraint approvals_in_time check (expires_at > created_at and (state <> 'approved' or decided_at < expires_at)),
  constraint approvals_decided check (
    (approver is not null) = (state = 'approved') and (rejected_by is not null) = (state = 'rejected')
    and (decided_at is not null) = (state <> 'pending'))
);
create index approvals_newest on approvals (created_at desc, id desc);
create index approvals_approved on approvals (kind, subject) where state = 'approved';
create index approvals_pending on approvals (created_at desc, id desc) where state = 'pending';

-- A decision is final, and what was proposed does not change.
-- `packages/core/src/approvals/states.ts` has the same transitions, and a test compares them.
create function check_approval_change() returns trigger language plpgsql as $$
begin
  if (old.state, new.state) not in (('pending', 'approved'), ('pending', 'rejected'), ('pending', 'expired')) then
    raise exception 'approval % cannot change from % to %', old.id, old.state, new.state
      using errcode = 'check_violation', constraint = 'approvals_transition';
  end if;
  if (old.id, old.kind, old.payload, old.subject, old.summary, old.reason, old.proposer, old.created_at, old.expires_at)
    is distinct from
    (new.id, new.kind, new.payload, new.subject, new.summary, new.reason, new.proposer, new.created_at, new.expires_at)
  then
    raise exception 'approval % cannot be changed', old.id
      using errcode = 'check_violation', constraint = 'approvals_proposal';
  end if;
  return new;
end $$;
create trigger approvals_transition before update on approvals
  for each row execute function check_approval_change();

-- Append-only. Each row seals the one before it, so that a changed or missing row shows.
create table audit_log (
  seq bigint primary key,
  at timestamptz not null,
  actor text not null,
  -- Which credential the actor used, without the credential itself: kind, id, OAuth grant and program.
  credential jsonb check (jsonb_typeof(credential) = 'object'),
  act text not null,
  subject text not null,
  request_id text not null,
  details jsonb not null,
  seal bytea not null check (octet_length(seal) = 32)
);
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- The newest row of the audit log. Its lock orders the writers.
create table audit_head (
  only_row boolean primary key default true check (only_row),
  seq bigint not null,
  seal bytea not null
);
insert into audit_head (seq, seal) values (0, decode(repeat('00', 32), 'hex'));

-- The worker processes that are alive: one that stays silent has its jobs taken from it.
create table worker_pools (
  worker_id text primary key,
  seen_at timestamptz not null
);

-- Enqueues a job for a role that may not write the job engine's tables.
create function enqueue_job(
  task text, payload json, max_attempts integer, run_at timestamptz, job_key text, job_key_mode text
) returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if task not in ('deliver-events', 'run-sweep') then
    raise exception 'job % cannot be enqueued', task using errcode = 'insufficient_privilege';
  end if;
  return (graphile_worker.add_job(
    task, payload := payload, max_attempts := max_attempts, run_at := run_at, job_key := job_key,
    job_key_mode := job_key_mode
  )).id;
end $$;

-- Until when due sweeps were enqueued. The lock of the row lets one worker at a time enqueue them.
create table sweep_clock (
  only_row boolean primary key default true check (only_row),
  started_until timestamptz not null
);
insert into sweep_clock (started_until) values (now());

-- Enqueues a run of each sweep under its name as the key, except of those whose last run waits or has not ended.
create function start_sweeps(names text[], max_attempts integer) returns void language plpgsql as $$
begin
  perform from sweep_clock for update;
  -- One call, because each notifies every worker.
  perform graphile_worker.add_jobs(array_agg(
    row(name, '{}', null, now(), max_attempts, name, null, null)::graphile_worker.job_spec
  ))
  from unnest(names) as name
  where not exists (select from graphile_worker.jobs where key = name)
  having count(*) > 0;
end $$;

-- Every worker calls this each tick, and the first one enqueues the sweeps that have a multiple of their interval in the time
-- since the last tick: those of missed ticks once. The clock moves in the same transaction, so that none is lost or doubled.
create function start_due_sweeps(names text[], intervals_ms bigint[], tick_ms bigint, max_attempts integer)
returns void language plpgsql as $$
declare
  since timestamptz;
  next_tick timestamptz := to_timestamp((floor(extract(epoch from now()) * 1000 / tick_ms) + 1) * tick_ms / 1000);
begin
  select started_until into since from sweep_clock;
  -- It is later than the next tick when the clock of the server was set back.
  if since > now() and since <= next_tick then
    return;
  end if;
  update sweep_clock set started_until = next_tick where started_until = since;
  if found then
    perform start_sweeps(array(
      select sweep.name from unnest(names, intervals_ms) as sweep(name, every_ms)
      where ceil(extract(epoch from since) * 1000 / every_ms) * every_ms < extract(epoch from next_tick) * 1000
    ), max_attempts);
  end if;
end $$;

-- Ends the sessions of the api whose transaction is old: what it wrote counts from when it was written, and nobody saw it
-- meanwhile. The role can lift its own timeouts, so the worker does this. Runs as the owner, who is a member of the api's role.
create function end_old_transactions(max_age interval) returns integer language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  old_session integer;
  ended integer := 0;
begin
  -- A loop, because the conditions of one WHERE have no order: pg_terminate_backend among them would end every session.
  for old_session in
    select pid from pg_stat_activity
    where usename = 'market_api' and datname = current_database() and xact_start < clock_timestamp() - max_age
  loop
    if pg_terminate_backend(old_session) then
      ended := ended + 1;
    end if;
  end loop;
  return ended;
end $$;
revoke execute on function end_old_transactions(interval) from public;

-- The api's role may not read the tables of the job engine. Counts at most ten thousand jobs, so that it stays cheap; a
-- longer queue shows in the age of the oldest job.
create function job_queue_metrics(
  out waiting integer, out oldest_seconds double precision, out running integer, out failing integer
) language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  select count(*) filter (where due.locked_at is null),
    coalesce(greatest(extract(epoch from now() - min(due.run_at) filter (where due.locked_at is null)), 0), 0),
    count(*) filter (where due.locked_at is not null),
    count(*) filter (where due.attempts > 0 and due.last_error is not null)
  into waiting, oldest_seconds, running, failing
  from (
    select job.run_at, job.locked_at, job.attempts, job.last_error from graphile_worker.jobs as job
    where job.run_at <= now() order by job.run_at limit 10000
  ) as due;
end $$;
