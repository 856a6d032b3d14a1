-- Swaps from USDC to SOL that users ordered for their own wallets. The marketplace holds no money of them: a row only says
-- which message was checked, and what became of it.
create table swap_orders (
  id text primary key check (id ~ '^swp_[0-9]+_[0-9a-z]{17}$'),
  user_id text not null references users (idp_user_id),
  -- The taker, who signs.
  wallet text not null check (wallet ~ '^[1-9A-HJ-NP-Za-km-z]{32,44}$'),
  amount_micros bigint not null check (amount_micros between 1 and 1000000000000),
  min_out_lamports bigint not null check (min_out_lamports > 0),
  -- SHA-256 of the exact message that was checked. A venue must not return one message for two orders: both would be
  -- reported as executed after one transfer.
  message_sha256 bytea not null constraint swap_orders_message unique check (octet_length(message_sha256) = 32),
  -- The venue's id of the quote.
  venue_request text not null check (venue_request ~ '^[\x21-\x7e]{1,200}$'),
  -- After this block height the message can no longer be executed.
  last_valid_height bigint not null check (last_valid_height >= 0),
  -- `ordered` until it is submitted, then `pending` until the chain shows the outcome.
  status text not null check (status in ('ordered', 'pending', 'confirmed', 'failed')),
  signature text check (signature ~ '^[1-9A-HJ-NP-Za-km-z]{64,88}$'),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  executed_at timestamptz,
  constraint swap_orders_executed check (
    (status = 'ordered') = (signature is null) and (status = 'ordered') = (executed_at is null)
  )
);
create index swap_orders_of_user on swap_orders (user_id);
-- For the sweep: what was never executed is deleted earlier.
create index swap_orders_unexecuted_at on swap_orders (created_at) where status = 'ordered';
create index swap_orders_executed_at on swap_orders (created_at) where status <> 'ordered';
