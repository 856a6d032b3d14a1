-- Everything that is stored about an order: the order, its deliveries, history, messages, review and generations. What paid it
-- is in `transfers` (0005) and, when it came by x402, in `purchases` (0009); what it pays out is in `payouts` (0010).

create table orders (
  id text primary key check (id ~ '^ord_[0-9]+_[0-9a-z]{17}$'),
  -- An order comes from a listing or from a bounty. The foreign key of `bounty_id` is in 0008, because bounties refer to orders.
  listing_id text references listings (id),
  bounty_id text,
  agent_id text not null references agents (id),
  -- Who ordered: `user:…`, `wallet:…` or `agent:…`.
  buyer text not null check (buyer ~ '^(user|wallet|agent):.' and length(buyer) <= 300),
  -- A wallet that the buyer has proven to own; it may pay. Refunds go to the payer.
  client_wallet text check (length(client_wallet) between 32 and 44),
  -- How it was proven, like agents.owner_proven_by. Null for a wallet that is linked to the account.
  client_proven_by text,
  -- The order came with its payment and with a credential, whose user, wallet or agent reviews the delivery. Without one,
  -- nobody is there to review it.
  for_principal boolean not null default false,
  -- The states and their transitions: packages/trade/src/orders/states.ts, and `order_steps` below.
  status text not null check (status in (
    'pending_quote', 'quoted', 'accepted', 'paid', 'in_progress', 'delivered',
    'revision_requested', 'disputed', 'completed', 'cancelled'
  )),

  -- What is ordered.
  title text not null,
  brief text not null check (length(brief) <= 3000),
  reference_urls text[] not null check (cardinality(reference_urls) <= 5),
  reference_images text[] not null check (cardinality(reference_images) <= 3),
  requirement_answers jsonb not null check (jsonb_typeof(requirement_answers) = 'object'),
  is_private boolean not null,
  turnaround_hours integer not null check (turnaround_hours between 1 and 720),
  max_revisions integer not null check (max_revisions between 0 and 10),
  revision_count integer not null check (revision_count >= 0),

  -- The price. Whoever pays with the order pays 10 % on top of a price of at most 1,000,000 USD.
  price_type text not null check (price_type in ('fixed', 'quote', 'weekly', 'monthly')),
  price_micros bigint check (price_micros > 0 and price_micros <= 1100000000000),
  quote_message text check (length(quote_message) <= 2000),
  -- Until when the price is valid: of a quote, and once it was accepted.
  price_until timestamptz,

  -- The payment; `payment_error` is what was wrong with the last transfer that was named. One that is waited for has an intent.
  payment_method text check (payment_method in ('x402', 'bounty')),
  payment_error text check (length(payment_error) <= 300),
  payment_network text,
  payment_reference text,
  paid_at timestamptz,
  -- Whether the caller who placed the order has proven to be the payer. No default: a forgotten value would skip the time in
  -- which a payer can contest.
  payer_proven boolean not null,
  -- Until when the payout waits while the payer is not proven. It is stored, because the 402 response named it.
  payout_waits_until timestamptz,
  -- Another request named the same transfer with other content. Without a signature of the payer, an order that was not
  -- delivered then is refunded at `contest_ends_at`; for a delivered one an arbiter decides.
  contested_at timestamptz,
  contest_ends_at timestamptz,

  -- Delivery and review.
  deliver_by timestamptz,
  delivered_at timestamptz,
  review_ends_at timestamptz,
  -- What is left of the review while a revision or a dispute stops it.
  review_left_ms bigint check (review_left_ms >= 0),
  -- What the buyer last asked for: the feedback of a revision, the reason of a dispute.
  complaint text check (length(complaint) <= 2000),

  -- A workspace: a service with a quota, in which the buyer requests single generations (`workspace_deliverables`).
  quota_total integer not null default 0,
  quota_used integer not null default 0,
  quota_pending integer not null default 0,
  -- How many requests failed. Their units are not in `quota_used`, but they count when the workspace is settled.
  quota_failed integer not null default 0 check (quota_failed >= 0),
  workspace_ends_at timestamptz,
  renewal_offered_at timestamptz,

  -- How it ended, and the agent's part of the price, its fee included; null until somebody decides.
  closed_at timestamptz,
  outcome text check (outcome in ('released', 'refunded', 'split', 'unpaid')),
  agent_part_micros bigint check (agent_part_micros >= 0),

  -- When its status changes by itself unless somebody acts before.
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,

  constraint orders_source check (
    (listing_id is null) = (bounty_id is not null)
    and (bounty_id is not null) = (payment_method is not distinct from 'bounty')
  ),
  constraint orders_client_proven_by check (
    client_proven_by is null
    or client_wallet is not null and client_proven_by in ('key', 'solana-mainnet', 'base-mainnet', 'alt-mainnet')
  ),
  constraint orders_for_principal check (not for_principal or payment_method is not null),
  constraint orders_priced check (status in ('pending_quote', 'cancelled') or price_micros is not null),
  constraint orders_paid check (
    status in ('pending_quote', 'quoted', 'accepted', 'cancelled')
    or (payment_reference is not null and payment_network is not null and paid_at is not null and deliver_by is not null)
  ),
  constraint orders_payout_wait check (payout_waits_until is null or not payer_proven),
  constraint orders_contested check (
    contested_at is null
    or (payment_method = 'x402' and not payer_proven and status in
      ('accepted', 'paid', 'in_progress', 'delivered', 'revision_requested', 'completed', 'disputed'))
  ),
  constraint orders_contest_ends check (contest_ends_at is null or contested_at is not null),
  constraint orders_delivered check (
    status not in ('delivered', 'revision_requested', 'disputed') or delivered_at is not null
  ),
  constraint orders_in_review check ((status = 'delivered') = (review_ends_at is not null)),
  constraint orders_review_stands check (status not in ('revision_requested', 'disputed') or review_left_ms is not null),
  constraint orders_quota check (
    quota_pending between 0 and quota_used and quota_used <= quota_total and quota_total <= 100000
  ),
  constraint orders_closed check ((status in ('completed', 'cancelled')) = (closed_at is not null)),
  constraint orders_outcome check ((closed_at is null) = (outcome is null)),
  constraint orders_verdict check (case outcome
    when 'released' then agent_part_micros = price_micros
    when 'split' then agent_part_micros < price_micros
    when 'refunded' then agent_part_micros = 0
    when 'unpaid' then agent_part_micros = 0
    else true end and (outcome is null or agent_part_micros is not null)),
  constraint orders_ended check (status not in ('completed', 'cancelled') or due_at is null)
);
create index orders_of_buyer on orders (buyer, created_at desc, id desc);
create index orders_of_wallet on orders (client_wallet, created_at desc, id desc) where client_wallet is not null;
create index orders_of_buyer_in on orders (buyer, status, created_at desc, id desc);
create index orders_of_wallet_in on orders (client_wallet, status, created_at desc, id desc) where client_wallet is not null;
create index workspaces_of_buyer on orders (buyer, created_at desc, id desc) where quota_total > 0;
create index workspaces_of_wallet on orders (client_wallet, created_at desc, id desc)
  where quota_total > 0 and client_wallet is not null;
create index orders_of_agent on orders (agent_id, created_at desc, id desc);
create index orders_of_agent_in on orders (agent_id, status, created_at desc, id desc);
create index orders_of_listing on orders (listing_id, created_at desc);
create unique index orders_of_bounty on orders (bounty_id) where bounty_id is not null;
create index orders_due on orders (due_at, id) where due_at is not null;
create index orders_contested on orders (contested_at, id) where contested_at is not null;
create index orders_disputed on orders (updated_at, id) where status = 'disputed';
create index orders_to_renew on orders (workspace_ends_at)
  where status = 'in_progress' and renewal_offered_at is null and price_type in ('weekly', 'monthly');
-- What was bought lately, for the list of what is bought most: read from the index alone.
create index orders_paid on orders (paid_at desc) include (listing_id, buyer)
  where paid_at is not null and status <> 'cancelled';
create index orders_public_work on orders (agent_id, created_at desc, id desc)
  where status = 'completed' and not is_private and contested_at is null;

-- Each delivery as it was made. A later one replaces it, and the earlier ones stay to be read.
create table order_deliveries (
  order_id text not null references orders (id),
  n integer not null check (n > 0),
  note text check (length(note) <= 2000),
  items jsonb not null check (jsonb_typeof(items) = 'array' and jsonb_array_length(items) between 1 and 20),
  at timestamptz not null,
  primary key (order_id, n)
);

-- The history of an order: who did what. The constraints repeat `TRANSITIONS`, `ACTORS` and `ACTOR_KINDS` of
-- packages/trade/src/orders/states.ts; a test compares them.
create table order_steps (
  order_id text not null references orders (id),
  n integer not null check (n > 0),
  action text not null check (length(action) <= 32),
  from_status text not null,
  to_status text not null,
  -- As which party of the order the actor took the step.
  role text not null,
  actor text not null check (length(actor) <= 300),
  at timestamptz not null,
  primary key (order_id, n),
  constraint order_steps_transition check ((from_status, action, to_status) in (
    ('pending_quote', 'quote', 'quoted'),
    ('pending_quote', 'cancel', 'cancelled'),
    ('quoted', 'accept', 'accepted'),
    ('quoted', 'pay', 'paid'),
    ('quoted', 'expire', 'pending_quote'),
    ('quoted', 'cancel', 'cancelled'),
    ('accepted', 'pay', 'paid'),
    ('accepted', 'expire', 'pending_quote'),
    ('accepted', 'lapse', 'quoted'),
    ('accepted', 'cancel', 'cancelled'),
    ('paid', 'start', 'in_progress'),
    ('paid', 'deliver', 'delivered'),
    ('paid', 'cancel', 'cancelled'),
    ('paid', 'overdue', 'cancelled'),
    ('paid', 'undo', 'accepted'),
    ('paid', 'contest_payment', 'paid'),
    ('paid', 'confirm_payer', 'paid'),
    ('paid', 'restore_delivery', 'delivered'),
    ('in_progress', 'deliver', 'delivered'),
    ('in_progress', 'finish', 'delivered'),
    ('in_progress', 'cancel', 'cancelled'),
    ('in_progress', 'overdue', 'cancelled'),
    ('in_progress', 'undo', 'accepted'),
    ('in_progress', 'contest_payment', 'in_progress'),
    ('in_progress', 'confirm_payer', 'in_progress'),
    ('delivered', 'deliver', 'delivered'),
    ('delivered', 'approve', 'completed'),
    ('delivered', 'release', 'completed'),
    ('delivered', 'revision', 'revision_requested'),
    ('delivered', 'dispute', 'disputed'),
    ('delivered', 'undo', 'accepted'),
    ('delivered', 'contest_payment', 'delivered'),
    ('delivered', 'confirm_payer', 'delivered'),
    ('delivered', 'award', 'completed'),
    ('delivered', 'reverse', 'cancelled'),
    ('delivered', 'return_payment', 'cancelled'),
    ('revision_requested', 'deliver', 'delivered'),
    ('revision_requested', 'decline_revision', 'delivered'),
    ('revision_requested', 'cancel', 'cancelled'),
    ('revision_requested', 'overdue', 'cancelled'),
    ('revision_requested', 'undo', 'accepted'),
    ('revision_requested', 'contest_payment', 'revision_requested'),
    ('revision_requested', 'confirm_payer', 'revision_requested'),
    ('revision_requested', 'award', 'completed'),
    ('revision_requested', 'reverse', 'cancelled'),
    ('disputed', 'deliver', 'delivered'),
    ('disputed', 'approve', 'completed'),
    ('disputed', 'refund', 'cancelled'),
    ('disputed', 'award', 'completed'),
    ('disputed', 'reverse', 'cancelled'),
    ('disputed', 'undo', 'accepted'),
    ('disputed', 'contest_payment', 'disputed'),
    ('disputed', 'confirm_payer', 'disputed'),
    ('disputed', 'return_payment', 'cancelled'),
    ('completed', 'undo', 'accepted'),
    ('completed', 'contest_payment', 'completed'),
    ('completed', 'confirm_payer', 'completed'),
    ('completed', 'award', 'completed'),
    ('completed', 'reverse', 'cancelled'),
    ('completed', 'return_payment', 'cancelled')
  )),
  constraint order_steps_role check ((action, role) in (
    ('quote', 'provider'), ('quote', 'owner'),
    ('accept', 'buyer'),
    ('pay', 'buyer'),
    ('start', 'provider'), ('start', 'owner'), ('start', 'clock'),
    ('deliver', 'provider'), ('deliver', 'owner'),
    ('revision', 'buyer'),
    ('decline_revision', 'provider'), ('decline_revision', 'owner'),
    ('dispute', 'buyer'),
    ('approve', 'buyer'),
    ('cancel', 'buyer'), ('cancel', 'provider'), ('cancel', 'owner'),
    ('refund', 'provider'), ('refund', 'owner'),
    ('award', 'arbiter'),
    ('reverse', 'arbiter'),
    ('release', 'clock'),
    ('finish', 'clock'),
    ('overdue', 'clock'),
    ('expire', 'clock'),
    ('lapse', 'clock'),
    ('undo', 'clock'),
    ('contest_payment', 'clock'),
    ('confirm_payer', 'buyer'),
    ('return_payment', 'buyer'),
    ('restore_delivery', 'clock')
  )),
  -- The part of `actor` before the colon.
  constraint order_steps_actor check ((role, split_part(actor, ':', 1)) in (
    ('buyer', 'user'), ('buyer', 'wallet'), ('buyer', 'agent'),
    ('provider', 'agent'),
    ('owner', 'user'), ('owner', 'wallet'),
    ('arbiter', 'user'), ('arbiter', 'admin_key'),
    ('clock', 'clock')
  ))
);

create table order_messages (
  id text primary key check (id ~ '^msg_[0-9]+_[0-9a-z]{17}$'),
  order_id text not null references orders (id),
  sender_type text not null check (sender_type in ('client', 'agent')),
  sender_name text not null check (length(sender_name) between 1 and 100),
  content text not null check (length(content) between 1 and 2000),
  created_at timestamptz not null
);
create index order_messages_of_order on order_messages (order_id, created_at desc, id desc);

-- The generations that a buyer requests in a workspace. The quota is counted on the order, under its lock.
create table workspace_deliverables (
  id text primary key check (id ~ '^dlv_[0-9]+_[0-9a-z]{17}$'),
  order_id text not null references orders,
  prompt text not null check (length(prompt) <= 4000),
  status text not null check (status in ('pending', 'completed', 'failed')),
  item jsonb,
  failure text check (length(failure) between 1 and 500),
  deadline timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint workspace_deliverables_ended check ((status = 'pending') = (ended_at is null)),
  constraint workspace_deliverables_item check ((status = 'completed') = (item is not null)),
  constraint workspace_deliverables_failure check ((status = 'failed') = (failure is not null))
);
create index workspace_deliverables_of_order on workspace_deliverables (order_id, created_at desc, id desc);
create index workspace_deliverables_due on workspace_deliverables (deadline) where status = 'pending';

create table reviews (
  id text primary key check (id ~ '^rev_[0-9]+_[0-9a-z]{17}$'),
  order_id text not null references orders (id),
  -- Null when the order came from a bounty.
  listing_id text references listings (id),
  agent_id text not null references agents (id),
  buyer text not null,
  rating integer not null check (rating between 1 and 5),
  comment text not null check (length(comment) <= 500),
  created_at timestamptz not null,
  constraint reviews_once unique (order_id)
);
create index reviews_of_agent on reviews (agent_id, created_at desc, id desc);
create index reviews_of_listing on reviews (listing_id, created_at desc, id desc);

-- The portfolio of an agent is its completed public orders. Only what the agent hides is stored.
create table portfolio_hidden (
  agent_id text not null references agents,
  source_type text not null check (source_type in ('order', 'deliverable')),
  -- An order, a generation of a workspace, or `<order id>:<position>` of an item of a delivery.
  source_id text not null,
  order_id text not null references orders,
  hidden_at timestamptz not null,
  primary key (agent_id, source_type, source_id),
  constraint portfolio_hidden_source check (
    case source_type
      when 'order' then source_id = order_id
      else source_id like 'dlv\_%' or source_id ~ ('^' || order_id || ':[1-9][0-9]?$')
    end
  )
);
