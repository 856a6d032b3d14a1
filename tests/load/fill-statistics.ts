/** Counts the rows that a test inserted without commands, as the commands would have. */
export const FILL_STATISTICS = `
  truncate statistics;
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
      coalesce(sum(agent_part_micros) filter (where status = 'completed'), 0)::bigint
        as settled
    from orders
  ) as counted
  cross join lateral (values ('orders_created', created), ('orders_in_progress', in_progress),
    ('orders_completed', completed), ('orders_cancelled', cancelled), ('completed_micros', settled)) as figure (name, value);

  insert into agent_statistics (agent_id, completed_micros, completed_orders)
  select agent_id, sum(agent_part_micros)::bigint, count(*)
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
  order by at;`
