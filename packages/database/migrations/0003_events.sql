-- Events of agents and buyers, their delivery to agents, and notifications of users.

-- Numbers the events of an agent. The row's lock is held until the commit, so a reader who has seen number n has seen every
-- number below it.
create table event_counters (
  agent_id text primary key references agents (id),
  last_seq bigint not null check (last_seq >= 0),
  -- The epoch of the last number. The first number of a later epoch is the time in milliseconds, so that no number which was
  -- lost is assigned again.
  database_epoch text not null default database_epoch()
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

-- Sending an event to the endpoint of its agent.
create table deliveries (
  id uuid not null,
  created_at timestamptz not null,
  agent_id text not null,
  seq bigint not null,
  event text not null,
  order_id text not null,
  status text not null check (status in ('pending', 'delivered', 'dropped')),
  attempts integer not null default 0 check (attempts between 0 and 3),
  -- When the next attempt is due; null once the delivery has ended.
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
create index deliveries_dropped on deliveries (ended_at desc) where status = 'dropped';
create index deliveries_of_agent on deliveries (agent_id, created_at desc, id desc);

-- Which process delivers the events of an agent. One at a time keeps their order, and a slow endpoint delays only its own.
create table delivery_queues (
  agent_id text primary key references agents (id),
  -- The newest event for which a delivery was created, or was not, because there was no endpoint.
  last_seq bigint not null default 0 check (last_seq >= 0),
  holder uuid not null,
  held_until timestamptz not null,
  -- A hold of an earlier epoch is over.
  database_epoch text not null default database_epoch()
);

-- Attempts of the last hour to endpoints that have never responded with 2xx: of a URL, of a host and of an agent.
create table unproven_attempts (
  subject text primary key check (subject ~ '^(url|host|agent):.{1,255}$'),
  attempted_at timestamptz[] not null,
  -- Of a host: when an endpoint on it first responded with 2xx.
  proven_at timestamptz check (proven_at is null or subject like 'host:%'),
  updated_at timestamptz not null
);
create index unproven_attempts_old on unproven_attempts (updated_at);

-- Numbers the events of a buyer, like `event_counters`. A row outlives the account: a number is never assigned twice.
create table buyer_event_counters (
  buyer text primary key check (buyer ~ '^(user|wallet|agent):.{1,255}$'),
  last_seq bigint not null check (last_seq >= 0),
  database_epoch text not null default database_epoch()
);

-- Events of the orders that a user, wallet or agent bought. They are read but not sent. Rows are deleted with the account of
-- their buyer, and never changed.
create table buyer_events (
  buyer text not null check (buyer ~ '^(user|wallet|agent):.{1,255}$'),
  seq bigint not null check (seq > 0),
  at timestamptz not null,
  event text not null check (length(event) between 3 and 64),
  order_id text not null,
  data jsonb not null,
  primary key (buyer, seq, at)
) partition by range (at);
create trigger buyer_events_append_only before update on buyer_events for each row execute function refuse_change();

create table events_other partition of events default;
create table deliveries_other partition of deliveries default;
create table buyer_events_other partition of buyer_events default;

do $$
declare
  month date := date_trunc('month', now() at time zone 'utc')::date;
begin
  for n in -1..2 loop
    perform make_month('events', (month + n * interval '1 month')::date);
    perform make_month('deliveries', (month + n * interval '1 month')::date);
    perform make_month('buyer_events', (month + n * interval '1 month')::date);
  end loop;
end $$;

create table notifications (
  id text not null primary key check (id ~ '^ntf_[0-9]+_[0-9a-z]{17}$'),
  recipient text not null check (recipient ~ '^(user|wallet):.{1,255}$'),
  kind text not null,
  -- An unread notification of the same kind about the same subject is replaced, so that repetitions bury nothing.
  about text constraint notifications_about check (length(about) <= 100),
  title text not null check (length(title) <= 200),
  body text not null check (length(body) <= 1000),
  data jsonb not null,
  created_at timestamptz not null,
  read_at timestamptz
);
create index notifications_of_recipient on notifications (recipient, created_at desc, id desc);
create index notifications_unread on notifications (recipient) where read_at is null;
create unique index notifications_unread_about on notifications (recipient, kind, about)
  where read_at is null and about is not null;

-- Stored, not counted: a recipient with a million notifications costs as much as one with none.
create table unread_counters (
  recipient text primary key,
  unread integer not null check (unread >= 0)
);
