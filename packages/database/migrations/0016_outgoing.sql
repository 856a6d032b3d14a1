-- What server wallets, venue wallets and the publisher of anchors signed (packages/core/src/outgoing).

-- Each transaction that was signed for an action. It is stored before it is sent, and stays.
create table outgoing_transactions (
  -- A wallet operation, a step of a venue transfer, or the anchor of a day. It is on the chain too.
  action_id text not null check (length(action_id) between 1 and 64),
  n integer not null check (n > 0),
  kind text not null check (kind in ('wallet', 'venue', 'anchor')),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  account text not null check (length(account) between 32 and 44),
  reference text not null unique,
  -- Null: the database had lost it, and it was found on the chain.
  bytes text,
  -- EVM: transactions with the same nonce exclude each other. Solana: the last height at which it can be executed.
  nonce bigint check (nonce >= 0),
  last_valid_height bigint,
  max_fee_per_gas bigint,
  max_priority_fee_per_gas bigint,
  created_at timestamptz not null,
  primary key (action_id, n),
  constraint outgoing_transactions_lock check ((nonce is null) <> (last_valid_height is null))
);
create index outgoing_transactions_of_account on outgoing_transactions (network, account, nonce) where nonce is not null;

create trigger outgoing_transactions_stay before update or delete on outgoing_transactions
  for each row execute function refuse_change();

-- Solana: the height after which nothing of an earlier database epoch can be executed. Before it is final, nothing is signed.
create table outgoing_horizons (
  network text primary key,
  database_epoch text not null,
  height bigint not null
);

-- EVM: how many transactions of an account were compared with what the database knows.
create table outgoing_accounts (
  network text not null,
  account text not null,
  compared_nonces bigint not null check (compared_nonces >= 0),
  primary key (network, account)
);
