-- What the roles of the api and of the worker need the owner for. `grants.ts` has the grants, which follow every migration.

-- Enqueues a job for a role that may not write the job engine's tables.
create function enqueue_job(
  task text, payload json, max_attempts integer, run_at timestamptz, job_key text, job_key_mode text
) returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if task <> 'deliver-events' then
    raise exception 'job % cannot be enqueued', task using errcode = 'insufficient_privilege';
  end if;
  return (graphile_worker.add_job(
    task, payload := payload, max_attempts := max_attempts, run_at := run_at, job_key := job_key,
    job_key_mode := job_key_mode
  )).id;
end $$;

-- Partitions belong to the owner.
alter function make_month(text, date) security definer set search_path = public, pg_temp;
alter function guard_partition(text, text) security definer set search_path = public, pg_temp;
create function drop_month(partition text) returns void language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  if partition !~ '^(events|deliveries)_[0-9]{6}$' then
    raise exception '% is not a month that may be dropped', partition using errcode = 'insufficient_privilege';
  end if;
  execute format('drop table if exists public.%I', partition);
end $$;
revoke execute on function make_month(text, date), guard_partition(text, text), drop_month(text) from public;

-- Balances are written by the owner's trigger alone: no role needs the right to update an account.
alter function apply_move() security definer set search_path = public, pg_temp;

-- The api requests, withdraws and retries payouts. Everything that follows belongs to the worker.
create function check_payout_of_api() returns trigger language plpgsql as $$
begin
  if new.state not in ('queued', 'held', 'failed', 'withdrawn') or new.nonce is not null
    or new.final_reference is not null or (tg_op = 'INSERT' and new.state not in ('queued', 'failed'))
    or (tg_op = 'UPDATE' and old.state not in ('queued', 'held', 'failed', 'withdrawn')) then
    raise exception 'the api cannot make payout % %', new.id, new.state
      using errcode = 'insufficient_privilege', constraint = 'payouts_of_api';
  end if;
  -- Without a purpose the worker could not derive what is due. Only transfers are refunded without one.
  if tg_op = 'INSERT' and new.kind in ('payout', 'refund') and new.purpose is null then
    raise exception 'payout % needs a purpose', new.id
      using errcode = 'insufficient_privilege', constraint = 'payouts_of_api';
  end if;
  return new;
end $$;
create trigger payouts_of_api before insert or update on payouts
  for each row when (current_user = 'market_api') execute function check_payout_of_api();
