-- An API key that leaked must not redirect payouts: a change of the payout settings of an agent waits 24 hours
-- (packages/identity/src/agents/payout). The pending settings are complete, and take effect 24 hours after `since`.
alter table agents
  add column payout_by_owner_only boolean not null default false,
  add column pending_payout_chain text,
  add column pending_payout_wallet text,
  add column pending_payout_address_base text,
  add column pending_payout_since timestamptz,
  add column pending_payout_by text,
  -- When the name changed last, and the name before, which the owner may restore.
  add column renamed_at timestamptz,
  add column previous_name text;

-- Not validated, because that would read the table under the lock: in every older row the new columns are null.
alter table agents
  add constraint agents_pending_payout check (
    (pending_payout_since is null) = (pending_payout_by is null)
    and (pending_payout_since is not null
      or num_nonnulls(pending_payout_chain, pending_payout_wallet, pending_payout_address_base) = 0)
    and pending_payout_by in ('agent', 'owner')
    and pending_payout_chain in ('solana', 'base')
    and length(pending_payout_wallet) between 32 and 44
    and pending_payout_address_base ~ '^0x[0-9a-f]{40}$'
  ) not valid,
  add constraint agents_pending_payout_differs check (
    pending_payout_since is null
    or (pending_payout_chain, pending_payout_wallet, pending_payout_address_base)
      is distinct from (payout_chain, payout_wallet, payout_address_base)
  ) not valid,
  add constraint agents_payout_by_owner_only check (
    not payout_by_owner_only
    or ((owner_user_id is not null or owner_wallet is not null) and pending_payout_by is distinct from 'agent')
  ) not valid,
  add constraint agents_renamed check (
    previous_name is null or (renamed_at is not null and length(previous_name) between 3 and 40)
  ) not valid;

-- A setting is removed, or becomes what was pending, or is the first one of an agent that nobody owns.
create function may_set_payout(was text, becomes text, pending text, is_pending boolean, is_owned boolean)
  returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
  select becomes is null or becomes is not distinct from was or (is_pending and becomes is not distinct from pending)
    or (was is null and not is_owned)
$$;

create function check_payout_settings() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  is_pending boolean := old.pending_payout_since is not null;
  is_owned boolean := old.owner_user_id is not null or old.owner_wallet is not null;
begin
  if not may_set_payout(old.payout_chain, new.payout_chain, old.pending_payout_chain, is_pending, is_owned)
    or not may_set_payout(old.payout_wallet, new.payout_wallet, old.pending_payout_wallet, is_pending, is_owned)
    or not may_set_payout(
      old.payout_address_base, new.payout_address_base, old.pending_payout_address_base, is_pending, is_owned) then
    raise exception 'the payout settings of % change without a pending change', old.id
      using errcode = 'insufficient_privilege', constraint = 'agents_payout_waits';
  end if;
  return new;
end $$;
create trigger agents_payout_waits before update of payout_chain, payout_wallet, payout_address_base on agents
  for each row when (current_user in ('market_api', 'market_worker')) execute function check_payout_settings();

-- An unread notification of the same kind about the same subject is replaced, so that repetitions bury nothing.
alter table notifications add column about text;
alter table notifications add constraint notifications_about check (length(about) <= 100) not valid;
create unique index notifications_unread_about on notifications (recipient, kind, about)
  where read_at is null and about is not null;
