-- What makes a request safe to repeat, and what keeps an account of who did what.

-- A single-use signature: the triple is the key, never the signature's bytes, which can be varied.
create table used_signatures (
  wallet_key text not null,
  purpose text not null,
  signed_at_ms bigint not null,
  used_at timestamptz not null,
  primary key (wallet_key, purpose, signed_at_ms)
);
create index used_signatures_by_age on used_signatures (used_at);

create table requests (
  scope text not null check (length(scope) between 1 and 300),
  key text not null check (length(key) between 1 and 128),
  operation text not null,
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  state text not null check (state in ('running', 'done')),
  -- Counts takers, so that one whose lease ran out cannot finish over its successor's head.
  attempt integer not null default 1 check (attempt > 0),
  leased_until timestamptz not null,
  status integer check (status between 200 and 499),
  answer_sealed bytea,
  created_at timestamptz not null,
  primary key (scope, key),
  check ((state = 'done') = (status is not null and answer_sealed is not null))
);
create index requests_by_age on requests (created_at);

create table switches (
  name text primary key,
  on_since timestamptz,
  changed_at timestamptz not null,
  changed_by text not null,
  reason text not null check (length(reason) <= 500)
);

-- Append-only; each row seals the one before it, so that a changed or missing row shows.
create table audit_log (
  seq bigint primary key,
  at timestamptz not null,
  actor text not null,
  act text not null,
  subject text not null,
  request_id text not null,
  details jsonb not null,
  seal bytea not null check (octet_length(seal) = 32)
);
create table audit_head (
  only_row boolean primary key default true check (only_row),
  seq bigint not null,
  seal bytea not null
);
insert into audit_head (seq, seal) values (0, decode(repeat('00', 32), 'hex'));

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
