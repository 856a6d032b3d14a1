-- What happened, for whom, and how far it was carried.

-- Numbers an agent's events one after the other. The row's lock is held until the commit, so that a reader who has
-- seen number n has seen every number below it, whatever order transactions end in.
create table event_counters (
  agent_id text primary key references agents (id),
  last_seq bigint not null check (last_seq >= 0)
);

create table events (
  agent_id text not null,
  seq bigint not null check (seq > 0),
  at timestamptz not null,
  event text not null check (length(event) between 3 and 64),
  -- Empty for events about no order.
  order_id text not null,
  data jsonb not null,
  primary key (agent_id, seq, at)
) partition by range (at);

create trigger events_append_only before update on events for each row execute function refuse_change();

create table deliveries (
  id uuid not null,
  created_at timestamptz not null,
  agent_id text not null,
  seq bigint not null,
  event text not null,
  order_id text not null,
  status text not null check (status in ('pending', 'delivered', 'dropped')),
  attempts integer not null default 0 check (attempts between 0 and 3),
  -- When the next attempt is due; empty once the delivery has ended.
  due_at timestamptz,
  first_attempt_at timestamptz,
  ended_at timestamptz,
  response_status integer check (response_status between 100 and 999),
  failure text check (length(failure) <= 200),
  primary key (id, created_at),
  check ((status = 'pending') = (due_at is not null)),
  check ((status = 'pending') = (ended_at is null))
) partition by range (created_at);
create index deliveries_due on deliveries (agent_id, due_at, seq) where status = 'pending';
create index deliveries_overdue on deliveries (due_at) where status = 'pending';
create index deliveries_of_agent on deliveries (agent_id, created_at desc, id desc);

-- Who carries an agent's deliveries now. One at a time keeps their order, and keeps a slow endpoint in its own lane.
create table delivery_lanes (
  agent_id text primary key references agents (id),
  -- The newest event a delivery was made of, or was not due for want of an endpoint.
  last_seq bigint not null default 0 check (last_seq >= 0),
  holder uuid not null,
  held_until timestamptz not null
);

create table notifications (
  recipient text not null check (recipient ~ '^(user|wallet):.{1,255}$'),
  id text not null check (id ~ '^ntf_[0-9]+_[0-9a-z]{17}$'),
  kind text not null,
  title text not null check (length(title) <= 200),
  body text not null check (length(body) <= 1000),
  data jsonb not null,
  created_at timestamptz not null,
  read_at timestamptz,
  primary key (id)
);
create index notifications_of_recipient on notifications (recipient, created_at desc, id desc);
create index notifications_unread on notifications (recipient) where read_at is null;

-- Kept, not counted: a recipient with a million notifications costs as much as one with none.
create table unread_counters (
  recipient text primary key,
  unread integer not null check (unread >= 0)
);

-- The worker processes that are alive: one that stays silent has its jobs taken from it.
create table worker_pools (
  worker_id text primary key,
  seen_at timestamptz not null
);

-- Makes the month's partition of a table, if it is not there yet, and moves into it what had to wait in the default
-- one; bounds are in UTC.
create function make_month(parent text, month date) returns void language plpgsql as $$
declare
  name text := format('%s_%s', parent, to_char(month, 'YYYYMM'));
  first timestamptz := month::timestamp at time zone 'utc';
  next timestamptz := (month + interval '1 month')::timestamp at time zone 'utc';
  by_time text := case parent when 'events' then 'at' else 'created_at' end;
begin
  if to_regclass(format('public.%I', name)) is not null then
    return;
  end if;
  execute format('create table public.%I (like public.%I including all)', name, parent);
  execute format(
    'with moved as (delete from public.%I where %I >= %L and %I < %L returning *) insert into public.%I select * from moved',
    parent || '_other', by_time, first, by_time, next, name
  );
  execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, name, first, next);
end $$;

-- A row never fails for want of a month: what no month holds yet lands here.
create table events_other partition of events default;
create table deliveries_other partition of deliveries default;

do $$
declare
  month date := date_trunc('month', now() at time zone 'utc')::date;
begin
  for n in -1..2 loop
    perform make_month('events', (month + n * interval '1 month')::date);
    perform make_month('deliveries', (month + n * interval '1 month')::date);
  end loop;
end $$;
