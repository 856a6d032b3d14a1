import { createHash } from 'node:crypto'
import type { Migration } from '@market/database/migrations'

/** One migration of every kind that docs/operations/migrations.md allows, on the tables that orders write most. */
const STEPS: Readonly<Record<string, string>> = {
  nullable_columns: `
    alter table orders add column expand_note text;
    alter table payouts add column expand_note text;
    alter table agents add column expand_note text, add column expand_at timestamptz;
    alter table events add column expand_note text;
    alter table ledger_journals add column expand_note text;
    alter table transfers add column expand_note text;`,
  columns_with_default: `
    alter table orders add column expand_count integer not null default 0;
    alter table payouts add column expand_kind text not null default 'usual';
    alter table deliveries add column expand_kind text not null default 'usual';
    alter table notifications add column expand_since timestamptz not null default now();`,
  table: `
    create table expand_things (id text primary key, order_id text not null references orders (id), made_at timestamptz not null);
    create index expand_things_of_order on expand_things (order_id);
    comment on table expand_things is 'Only this test has it';`,
  index_concurrently: `-- outside a transaction
drop index concurrently if exists expand_orders_note;
create index concurrently expand_orders_note on orders (expand_note, id);
`,
  constraint_not_valid: `
    alter table orders add constraint expand_orders_count check (expand_count >= 0) not valid;
    alter table payouts add constraint expand_payouts_kind check (length(expand_kind) <= 20) not valid;`,
  constraint_validated: `
    alter table orders validate constraint expand_orders_count;
    alter table payouts validate constraint expand_payouts_kind;`,
  wider_check: `
    alter table orders drop constraint orders_brief_check,
      add constraint orders_brief_check check (length(brief) <= 6000) not valid;
    alter table notifications drop constraint notifications_title_check,
      add constraint notifications_title_check check (length(title) <= 400) not valid;`,
  default_of_a_new_row: `
    alter table orders alter column expand_count set default 1;`,
}

export const expandSteps = (): Migration[] =>
  Object.entries(STEPS).map(([name, sql], n) => ({
    name: `9${String(n + 1).padStart(3, '0')}_${name}`,
    sql,
    checksum: createHash('sha256').update(sql).digest('hex'),
  }))
