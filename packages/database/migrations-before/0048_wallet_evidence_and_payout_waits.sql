-- How the client wallet of an order was proven, like agents.owner_proven_by. Null for a wallet that is linked to the account, and
-- where it was proven before this was recorded. Existing rows are null, so nothing is to be validated.
alter table orders add column client_proven_by text;
alter table orders add constraint orders_client_proven_by check (
  client_proven_by is null
  or client_wallet is not null and client_proven_by in ('key', 'solana-mainnet', 'base-mainnet', 'alt-mainnet')
) not valid;

-- The 24 hours of a pending change of the payout settings start when it is written. Otherwise a role could write a change that
-- began yesterday. The minute allows for clocks that differ; a clock that was moved ahead for development only waits longer.
create function check_payout_wait() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.pending_payout_since < clock_timestamp() - interval '1 minute' then
    raise exception 'the pending payout change of % starts in the past', old.id
      using errcode = 'insufficient_privilege', constraint = 'agents_payout_wait_starts_now';
  end if;
  return new;
end $$;
create trigger agents_payout_wait_starts_now
  before update of pending_payout_chain, pending_payout_wallet, pending_payout_address_base, pending_payout_since on agents
  for each row when (
    current_user in ('market_api', 'market_worker') and new.pending_payout_since is not null
    and (new.pending_payout_chain, new.pending_payout_wallet, new.pending_payout_address_base, new.pending_payout_since)
      is distinct from
      (old.pending_payout_chain, old.pending_payout_wallet, old.pending_payout_address_base, old.pending_payout_since)
  ) execute function check_payout_wait();
