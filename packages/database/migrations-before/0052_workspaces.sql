-- Workspaces: a paid order of a service with a quota, in which the buyer requests single generations. The quota is counted on
-- the order, under its lock; `workspace_deliverables` has one row per request.
alter table orders add column quota_total integer not null default 0;
alter table orders add column quota_used integer not null default 0;
alter table orders add column quota_pending integer not null default 0;
alter table orders add column workspace_ends_at timestamptz;
alter table orders add column renewal_offered_at timestamptz;
-- Existing rows have the defaults, so nothing is to be validated.
alter table orders add constraint orders_quota check (
  quota_pending between 0 and quota_used and quota_used <= quota_total and quota_total <= 100000
) not valid;

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
create index orders_to_renew on orders (workspace_ends_at)
  where status = 'in_progress' and renewal_offered_at is null and price_type in ('weekly', 'monthly');

-- A workspace starts by itself and finishes by itself: `TRANSITIONS` and `ACTORS` in packages/trade/src/orders/states.ts.
alter table order_steps drop constraint order_steps_transition;
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
  ('completed', 'return_payment', 'cancelled'),
  ('completed', 'contest', 'disputed'),
  ('delivered', 'restore_dispute', 'disputed')
)) not valid;

alter table order_steps drop constraint order_steps_actor;
alter table order_steps add constraint order_steps_actor check ((action, split_part(actor, ':', 1)) in (
  ('quote', 'agent'), ('quote', 'user'), ('quote', 'wallet'),
  ('accept', 'user'), ('accept', 'wallet'), ('accept', 'agent'),
  ('pay', 'user'), ('pay', 'wallet'), ('pay', 'agent'),
  ('start', 'agent'), ('start', 'user'), ('start', 'wallet'), ('start', 'clock'),
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
  ('finish', 'clock'),
  ('overdue', 'clock'),
  ('expire', 'clock'),
  ('lapse', 'clock'),
  ('undo', 'clock'),
  ('contest_payment', 'clock'),
  ('confirm_payer', 'user'), ('confirm_payer', 'wallet'), ('confirm_payer', 'agent'),
  ('return_payment', 'user'), ('return_payment', 'wallet'), ('return_payment', 'agent'),
  ('restore_delivery', 'clock'),
  ('contest', 'user'), ('contest', 'wallet'), ('contest', 'agent'),
  ('restore_dispute', 'clock')
)) not valid;
