-- Purchases that only name a public transaction: how long their payout waits, and what two callers who name one transfer
-- change (docs/contract/x402.md, packages/trade/src/x402/contest/rules.ts).

-- Until when the payout of an order waits whose payer is not proven. It is stored, because the 402 response named it.
alter table orders add column payout_waits_until timestamptz;
update orders set payout_waits_until = paid_at + interval '7 days'
  where not payer_proven and status in ('accepted', 'paid', 'in_progress') and paid_at is not null;
-- Another request named the same transfer with other content. Without a signature of the payer, an order that was not
-- delivered then is refunded at `contest_ends_at`; for a delivered one an arbiter decides.
alter table orders add column contested_at timestamptz;
alter table orders add column contest_ends_at timestamptz;
update orders set contested_at = updated_at where status = 'disputed' and payment_method = 'x402' and not payer_proven;
alter table orders add constraint orders_payout_wait check (payout_waits_until is null or not payer_proven) not valid;
alter table orders add constraint orders_contested check (
  contested_at is null
  or (payment_method = 'x402' and not payer_proven
    and status in ('accepted', 'paid', 'in_progress', 'delivered', 'completed', 'disputed'))
) not valid;
alter table orders add constraint orders_contest_ends check (contest_ends_at is null or contested_at is not null)
  not valid;
create index orders_contested on orders (contested_at, id) where contested_at is not null;

-- The later namings of a transfer that bought something, for the payer, who can still sign one of them, and for an arbiter.
create table purchase_namings (
  purchase_id text not null references purchases (id) on update cascade on delete cascade,
  n integer not null check (n between 1 and 20),
  subject text not null check (length(subject) between 1 and 100),
  request jsonb not null check (jsonb_typeof(request) = 'object'),
  fingerprint bytea not null check (length(fingerprint) = 32),
  amount_micros bigint not null check (amount_micros > 0),
  named_at timestamptz not null,
  primary key (purchase_id, n),
  constraint purchase_namings_once unique (purchase_id, fingerprint)
);
-- A contested registration has no order, so its own row says it. The agent exists, so an arbiter decides.
alter table purchases add column contested_at timestamptz
  check (contested_at is null or (subject = 'registration' and binding = 'none' and state = 'done'));
create index purchases_contested on purchases (contested_at, id) where contested_at is not null;

-- A contested payout waits until the payer signs or an arbiter decides.
alter table payouts add column contested_at timestamptz check (contested_at is null or kind = 'payout');
alter table payouts drop constraint payouts_hold_code;
update payouts set hold_code = 'contest_window' where hold_code = 'not_before';
alter table payouts add constraint payouts_hold_code check (hold_code in (
  'not_compared', 'not_counted', 'treasury_short', 'payouts_frozen', 'network_frozen', 'fee_above_cap',
  'fee_balance_low', 'contest_window', 'contested', 'payment_not_final', 'payout_cap', 'payee_cap', 'daily_cap',
  'balance_low', 'history_unread', 'nonce_mismatch', 'transfer_mismatch', 'nonce_reserved', 'nonce_used',
  'broadcast_error', 'no_address', 'below_account_minimum', 'payee_account_closed', 'gas_budget', 'not_funded',
  'order_mismatch', 'other')) not valid;

-- Prices that a listing had before: a transfer of a price that was valid within the last hour is accepted.
create table listing_prices (
  listing_id text not null references listings (id),
  price_micros bigint not null check (price_micros > 0),
  valid_until timestamptz not null,
  primary key (listing_id, price_micros)
);

-- Contests no longer make an order `disputed`. The steps of earlier versions stay in the histories.
alter table order_steps drop constraint order_steps_transition;
alter table order_steps drop constraint order_steps_actor;
alter table order_steps add constraint order_steps_transition check ((from_status, action, to_status) in (
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
  ('delivered', 'restore_dispute', 'disputed'),
  ('delivered', 'undo', 'accepted'),
  ('revision_requested', 'deliver', 'delivered'),
  ('revision_requested', 'decline_revision', 'delivered'),
  ('revision_requested', 'cancel', 'cancelled'),
  ('revision_requested', 'overdue', 'cancelled'),
  ('revision_requested', 'undo', 'accepted'),
  ('disputed', 'deliver', 'delivered'),
  ('disputed', 'approve', 'completed'),
  ('disputed', 'refund', 'cancelled'),
  ('disputed', 'award', 'completed'),
  ('disputed', 'reverse', 'cancelled'),
  ('disputed', 'undo', 'accepted'),
  ('disputed', 'confirm_payer', 'disputed'),
  ('completed', 'contest', 'disputed'),
  ('completed', 'undo', 'accepted'),
  ('completed', 'contest_payment', 'completed'),
  ('completed', 'confirm_payer', 'completed'),
  ('completed', 'award', 'completed'),
  ('completed', 'reverse', 'cancelled'),
  ('completed', 'return_payment', 'cancelled')
)) not valid;

alter table order_steps add constraint order_steps_actor check ((action, split_part(actor, ':', 1)) in (
  ('quote', 'agent'), ('quote', 'user'), ('quote', 'wallet'),
  ('accept', 'user'), ('accept', 'wallet'), ('accept', 'agent'),
  ('pay', 'user'), ('pay', 'wallet'), ('pay', 'agent'),
  ('start', 'agent'), ('start', 'user'), ('start', 'wallet'),
  ('deliver', 'agent'), ('deliver', 'user'), ('deliver', 'wallet'),
  ('revision', 'user'), ('revision', 'wallet'), ('revision', 'agent'),
  ('decline_revision', 'agent'), ('decline_revision', 'user'), ('decline_revision', 'wallet'),
  ('dispute', 'user'), ('dispute', 'wallet'), ('dispute', 'agent'),
  ('approve', 'user'), ('approve', 'wallet'), ('approve', 'agent'),
  ('cancel', 'user'), ('cancel', 'wallet'), ('cancel', 'agent'),
  ('refund', 'agent'), ('refund', 'user'), ('refund', 'wallet'),
  ('award', 'user'), ('award', 'admin_key'),
  ('reverse', 'user'), ('reverse', 'admin_key'),
  ('release', 'clock'),
  ('overdue', 'clock'),
  ('expire', 'clock'),
  ('lapse', 'clock'),
  ('undo', 'clock'),
  ('contest', 'user'), ('contest', 'wallet'), ('contest', 'agent'),
  ('contest_payment', 'clock'),
  ('confirm_payer', 'user'), ('confirm_payer', 'wallet'), ('confirm_payer', 'agent'),
  ('return_payment', 'user'), ('return_payment', 'wallet'), ('return_payment', 'agent'),
  ('restore_delivery', 'clock'),
  ('restore_dispute', 'clock')
)) not valid;
