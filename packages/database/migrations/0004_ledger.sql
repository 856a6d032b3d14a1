-- Whose money it is: double entry. No statement can make the ledger disagree with itself.

create table ledger_accounts (
  id text collate "C" primary key,
  -- `world` is what the treasury holds, `cold` a cold address, `venue` what is on its way to a venue: their balances are below zero.
  -- The others say to whom it belongs: `withdrawal` is what a venue paid for shares of a pool.
  kind text not null check (
    kind in ('world', 'cold', 'venue', 'escrow', 'payable', 'fees', 'suspense', 'surplus', 'withdrawal')
  ),
  network text not null check (network in ('solana-mainnet', 'base-mainnet', 'alt-mainnet')),
  asset text not null default 'USDC' check (length(asset) between 1 and 16),
  -- What the money waits for. Of the kinds that are spread over stripes: the stripe's number.
  subject text not null check (length(subject) between 1 and 100),
  may_be_negative boolean not null,
  balance_micros bigint not null default 0,
  -- Changes only when the balance leaves or reaches zero, so that the index on it costs a busy account nothing.
  is_open boolean not null generated always as (balance_micros <> 0) stored,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint ledger_accounts_id check (id = kind || ':' || network || ':' || subject),
  constraint ledger_accounts_sign check (may_be_negative = (kind in ('world', 'cold', 'venue'))),
  constraint ledger_accounts_not_overdrawn check (may_be_negative or balance_micros >= 0)
) with (fillfactor = 70);
create index ledger_accounts_open on ledger_accounts (network, kind, id) where is_open;

create table ledger_journals (
  -- Thirteen digits of milliseconds, so that ids sort by time.
  id text collate "C" primary key check (id ~ '^jrn_[0-9]{13}_[0-9a-z]{17}$'),
  -- What happened. The same thing cannot be posted twice.
  key text not null check (length(key) between 3 and 200),
  reason text not null check (reason ~ '^[a-z0-9_]+([.][a-z0-9_]+)*$' and length(reason) <= 64),
  subject text not null check (length(subject) between 1 and 100),
  -- The agent whose statement shows this journal, beside the subject's own.
  agent_id text,
  network text not null,
  -- Stored first: once all moves are there, no number is left for another.
  move_count integer not null check (move_count between 2 and 100),
  at timestamptz not null,
  constraint ledger_journals_key unique (key)
);
create index ledger_journals_of_subject on ledger_journals (subject, id desc);
create index ledger_journals_of_agent on ledger_journals (agent_id, id desc) where agent_id is not null;

-- A move needs no foreign keys: `apply_move` finds its journal and its account or rejects it, and neither can be deleted.
create table ledger_moves (
  journal_id text collate "C" not null,
  n integer not null,
  account_id text collate "C" not null,
  -- What the account gains; what it loses is below zero.
  amount_micros bigint not null check (amount_micros <> 0),
  network text not null,
  asset text not null default 'USDC',
  at timestamptz not null,
  primary key (journal_id, n, at)
) partition by range (at);

-- Runs after the insert, because a row that `on conflict do nothing` left out must change no balance. It runs as the owner: no
-- role needs the right to update an account.
create function apply_move() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update ledger_accounts account
  set balance_micros = account.balance_micros + new.amount_micros, updated_at = new.at
  from ledger_journals journal
  where account.id = new.account_id and account.network = new.network and account.asset = new.asset
    and journal.id = new.journal_id and journal.network = new.network and journal.at = new.at
    and new.n between 1 and journal.move_count;
  if not found then
    raise exception 'move % of % has no such journal or account on %', new.n, new.journal_id, new.network
      using errcode = 'foreign_key_violation', constraint = 'ledger_moves_belong';
  end if;
  return null;
end $$;
create trigger ledger_moves_apply after insert on ledger_moves for each row execute function apply_move();

-- A journal has all of its moves at the commit, and they sum to zero.
create function check_journal() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  moves bigint;
  balanced boolean;
begin
  -- Planned anew each time: a kept plan would lock every month there is, this one opens the journal's own.
  execute '
    select coalesce(sum(count), 0), coalesce(bool_and(total = 0), false)
    from (
      select count(*), sum(amount_micros) as total from ledger_moves
      where journal_id = $1 and at = $2 group by network, asset
    ) per_asset' into moves, balanced using new.id, new.at;
  if moves <> new.move_count then
    raise exception 'journal % has % of its % moves', new.id, moves, new.move_count
      using errcode = 'check_violation', constraint = 'ledger_journals_complete';
  end if;
  if not balanced then
    raise exception 'journal % does not sum to zero', new.id
      using errcode = 'check_violation', constraint = 'ledger_journals_balanced';
  end if;
  return null;
end $$;
create constraint trigger ledger_journals_balanced after insert on ledger_journals
  deferrable initially deferred for each row execute function check_journal();

create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception '% changes only by posting a journal', tg_table_name using errcode = 'restrict_violation';
end $$;
-- By row, because those triggers come with every partition.
create trigger ledger_moves_append_only before update or delete on ledger_moves
  for each row execute function refuse_ledger_change();
create trigger ledger_moves_stay before truncate on ledger_moves
  for each statement execute function refuse_ledger_change();
create trigger ledger_journals_append_only before update or delete or truncate on ledger_journals
  for each statement execute function refuse_ledger_change();
-- A balance follows moves and nothing else: only a trigger, which is `apply_move`, may change it.
create trigger ledger_accounts_follow_moves before update on ledger_accounts
  for each statement when (pg_trigger_depth() = 0) execute function refuse_ledger_change();
create trigger ledger_accounts_stay before delete or truncate on ledger_accounts
  for each statement execute function refuse_ledger_change();
create trigger ledger_accounts_begin_empty before insert on ledger_accounts
  for each row when (new.balance_micros <> 0) execute function refuse_ledger_change();

create table ledger_moves_other partition of ledger_moves default;

do $$
declare
  month date := date_trunc('month', now() at time zone 'utc')::date;
begin
  perform guard_partition('ledger_moves', 'ledger_moves_other');
  for n in -1..2 loop
    perform make_month('ledger_moves', (month + n * interval '1 month')::date);
  end loop;
end $$;
