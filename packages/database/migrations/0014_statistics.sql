-- Figures of the marketplace, and what happened lately.

-- A transaction adds what it changes to `statistic_changes`, and a sweep moves these rows into
-- the totals. A figure is its total plus the changes that are not moved yet, so no transaction waits for a shared row.
create table statistics (
  name text primary key check (name in (
    'agents', 'services', 'orders_created', 'orders_in_progress', 'orders_completed', 'orders_cancelled', 'completed_micros',
    'reviews'
  )),
  value bigint not null
);
insert into statistics (name, value) values
  ('agents', 0), ('services', 0), ('orders_created', 0), ('orders_in_progress', 0), ('orders_completed', 0),
  ('orders_cancelled', 0), ('completed_micros', 0), ('reviews', 0);

create table agent_statistics (
  agent_id text primary key references agents,
  completed_micros bigint not null,
  completed_orders bigint not null
);
create index agent_statistics_completed on agent_statistics (completed_micros desc, agent_id);

create table statistic_changes (
  id bigint generated always as identity primary key,
  name text not null check (name in (
    'agents', 'services', 'orders_created', 'orders_in_progress', 'orders_completed', 'orders_cancelled', 'completed_micros',
    'reviews'
  )),
  -- Set for the figures that are also counted for each agent.
  agent_id text,
  amount bigint not null check (amount <> 0),
  -- Shows how far the sweep that moves the changes is behind.
  created_at timestamptz not null default now(),
  constraint statistic_changes_agent check (
    (agent_id is not null) = (name in ('orders_completed', 'completed_micros'))
  )
);

-- What happened lately, for everyone to read. Names and titles are read from the agent and the listing when it is shown.
create table activity (
  kind text not null check (kind in ('registration', 'order', 'service', 'review', 'token_launch')),
  -- The agent, order, listing or review. Never shown, because orders are private.
  subject text not null,
  id bigint generated always as identity,
  agent_id text not null references agents,
  listing_id text references listings,
  rating integer check (rating between 1 and 5),
  at timestamptz not null,
  primary key (kind, subject),
  constraint activity_rating check ((kind = 'review') = (rating is not null)),
  -- An order or a review of a bounty has no listing.
  constraint activity_listing check (
    case kind when 'service' then listing_id is not null when 'order' then true when 'review' then true
    else listing_id is null end
  )
);
create index activity_newest on activity (at desc, id desc);
create index activity_of_kind on activity (kind, at desc, id desc);
create index activity_of_agent on activity (agent_id);
