-- How the owner wallet was proven: by its private key, which is the same on every EVM network, or only on one network, by its
-- contract or by a transfer. Null where it was proven before this was recorded. Existing rows are null, so nothing is to be validated.
alter table agents add column owner_proven_by text;
alter table agents add constraint agents_owner_proven_by check (
  owner_proven_by is null
  or owner_wallet is not null and owner_proven_by in ('key', 'solana-mainnet', 'base-mainnet', 'alt-mainnet')
) not valid;

-- The agent of every payout, also of those that were sent before payouts named it.
update payouts set agent_id = orders.agent_id from orders
  where payouts.kind = 'payout' and payouts.agent_id is null and payouts.subject = orders.id;
create index payouts_of_agent on payouts (agent_id, created_at desc, id desc) where agent_id is not null;
create index payouts_pending_of_agent on payouts (agent_id, network) include (amount_micros)
  where agent_id is not null and state in ('queued', 'held', 'nonce_assigned', 'signed', 'failed');

-- What was paid to an agent, kept by the worker in the transaction that makes a payout final.
create table payout_totals (
  agent_id text not null,
  network text not null,
  paid_out_micros bigint not null check (paid_out_micros > 0),
  primary key (agent_id, network)
);
insert into payout_totals (agent_id, network, paid_out_micros)
  select agent_id, network, sum(amount_micros) from payouts
  where state = 'final' and agent_id is not null group by agent_id, network;
