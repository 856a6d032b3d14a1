-- The newest final transfer of a network: a balance of an earlier final block is one of the past.
create index transfers_final on transfers (network, block_height desc) where state = 'final';

-- When an outgoing transfer was first read, by the database's time: how long a payout takes to be posted is real time.
alter table outgoing_transfers add column read_at timestamptz not null default now();
