-- In a transaction of its own: reading every row takes no lock that blocks reads, and none that blocks writes for long.

alter table payouts validate constraint payouts_approval;
alter table payouts validate constraint payouts_hold_code;
create index payouts_held_of_agent on payouts (agent_id) where state = 'held';

-- Only payouts that are not sent need their agent. Solana payouts that are authorized create the payee's account.
update payouts set agent_id = orders.agent_id from orders
  where payouts.kind = 'payout' and payouts.subject = orders.id
    and payouts.state in ('queued', 'held', 'nonce_assigned', 'signed', 'failed');
update payouts set opens_account = true
  where network = 'solana-mainnet' and state in ('nonce_assigned', 'signed');
