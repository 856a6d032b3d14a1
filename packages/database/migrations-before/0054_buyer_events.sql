-- Events of the orders that a user, wallet or agent bought. They are numbered like the events of agents, and read but not sent.

-- The row's lock is held until the commit, so numbers have no gaps and become visible in order. A row outlives the account:
-- a number is never assigned twice.
create table buyer_event_counters (
  buyer text primary key check (buyer ~ '^(user|wallet|agent):.{1,255}$'),
  last_seq bigint not null check (last_seq >= 0)
);

create table buyer_events (
  buyer text not null check (buyer ~ '^(user|wallet|agent):.{1,255}$'),
  seq bigint not null check (seq > 0),
  at timestamptz not null,
  event text not null check (length(event) between 3 and 64),
  order_id text not null,
  data jsonb not null,
  primary key (buyer, seq, at)
) partition by range (at);

-- Rows are deleted with the account of their buyer, and never changed.
create trigger buyer_events_append_only before update on buyer_events for each row execute function refuse_change();

create table buyer_events_other partition of buyer_events default;

do $$
declare
  month date := date_trunc('month', now() at time zone 'utc')::date;
begin
  for n in -1..2 loop
    perform make_month('buyer_events', (month + n * interval '1 month')::date);
  end loop;
end $$;

create or replace function drop_month(partition text) returns void language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  if partition !~ '^(events|buyer_events|deliveries)_[0-9]{6}$' then
    raise exception '% is not a month that may be dropped', partition using errcode = 'insufficient_privilege';
  end if;
  execute format('drop table if exists public.%I', partition);
end $$;
