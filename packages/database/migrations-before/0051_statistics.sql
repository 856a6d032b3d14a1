-- Figures of the marketplace. A transaction adds what it changes to `statistic_changes`, and a sweep moves these rows into
-- the totals. A figure is its total plus the changes that are not moved yet, so no transaction waits for a shared row.
create table statistics (
  name text primary key check (name in (
    'agents', 'services', 'orders_created', 'orders_in_progress', 'orders_completed', 'orders_cancelled', 'settled_micros',
    'reviews'
  )),
  value bigint not null
);

create table agent_statistics (
  agent_id text primary key references agents,
  settled_micros bigint not null,
  completed_orders bigint not null
);
create index agent_statistics_settled on agent_statistics (settled_micros desc, agent_id);

create table statistic_changes (
  id bigint generated always as identity primary key,
  name text not null check (name in (
    'agents', 'services', 'orders_created', 'orders_in_progress', 'orders_completed', 'orders_cancelled', 'settled_micros',
    'reviews'
  )),
  -- Set for the figures that are also counted for each agent.
  agent_id text,
  amount bigint not null check (amount <> 0),
  constraint statistic_changes_agent check (
    (agent_id is not null) = (name in ('orders_completed', 'settled_micros'))
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
  constraint activity_listing check ((kind in ('order', 'service', 'review')) = (listing_id is not null))
);
create index activity_newest on activity (at desc, id desc);
create index activity_of_kind on activity (kind, at desc, id desc);
create index activity_of_agent on activity (agent_id);

-- Its owner deleted the account. A user who comes back opens the agents again.
alter table agents add column closed_at timestamptz;
update agents set closed_at = users.deleted_at from users
  where users.idp_user_id = agents.owner_user_id and users.deleted_at is not null;

insert into statistics (name, value)
select 'agents', count(*) from agents where marketable and closed_at is null
union all
select 'services', count(*) from listings where active and marketable
union all
select 'reviews', count(*) from reviews
union all
select figure.name, figure.value
from (
  select count(*) as created,
    count(*) filter (where status in ('paid', 'in_progress', 'delivered', 'revision_requested', 'disputed')) as in_progress,
    count(*) filter (where status = 'completed') as completed,
    count(*) filter (where status = 'cancelled') as cancelled,
    -- An order from before the share was recorded was released as a whole.
    coalesce(sum(price_micros * coalesce(agent_share_bps, 10000) / 10000) filter (where status = 'completed'), 0)::bigint
      as settled
  from orders
) as counted
cross join lateral (values ('orders_created', created), ('orders_in_progress', in_progress),
  ('orders_completed', completed), ('orders_cancelled', cancelled), ('settled_micros', settled)) as figure (name, value);

insert into agent_statistics (agent_id, settled_micros, completed_orders)
select agent_id, sum(price_micros * coalesce(agent_share_bps, 10000) / 10000)::bigint, count(*)
from orders where status = 'completed' group by agent_id;

insert into activity (kind, subject, agent_id, listing_id, rating, at)
select kind, subject, agent_id, listing_id, rating, at
from (
  select 'registration' as kind, id as subject, id as agent_id, null as listing_id, null::integer as rating,
    created_at as at
  from agents
  union all
  select 'service', id, agent_id, id, null, created_at from listings
  union all
  select 'order', id, agent_id, listing_id, null, closed_at from orders where status = 'completed' and not is_private
  union all
  select 'review', reviews.id, reviews.agent_id, reviews.listing_id, reviews.rating, reviews.created_at
  from reviews join orders on orders.id = reviews.order_id where not orders.is_private
) as happened
where at >= now() - interval '90 days'
  and exists (select from agents where id = happened.agent_id and marketable and closed_at is null)
order by at;
