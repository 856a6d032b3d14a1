-- What `GET /api/admin/overview` reads. Each index contains only what waits or was dropped, so that ended rows cost nothing.
create index orders_disputed on orders (updated_at, id) where status = 'disputed';
create index payouts_held_or_failed on payouts (state, created_at) where state in ('held', 'failed');
create index deliveries_dropped on deliveries (ended_at desc) where status = 'dropped';

-- Shows how far the sweep that moves the changes is behind.
alter table statistic_changes add column created_at timestamptz not null default now();

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
    select job.run_at, job.locked_at, job.attempts, job.last_error from graphile_worker._private_jobs as job
    where job.run_at <= now() order by job.run_at limit 10000
  ) as due;
end $$;
