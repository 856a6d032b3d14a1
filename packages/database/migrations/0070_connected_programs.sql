-- contract: 0.1.0
-- Connected programs: the scope `market:keys`, and what each connection changed. Agents: the webhook secret before the last
-- one, whose signature is sent for an hour beside that of the new one.
alter table oauth_grants drop constraint oauth_grants_scopes_check;
alter table oauth_grants add constraint oauth_grants_scopes_check check (
  cardinality(scopes) > 0 and scopes <@ array['market:read', 'market:write', 'market:funds', 'market:keys']
);

create table oauth_changes (
  grant_id text not null references oauth_grants on delete cascade,
  operation text not null,
  -- What was changed: the id of an order, a service, an agent.
  subject text not null,
  -- The names of the fields that were sent.
  fields text[] not null,
  changed_at timestamptz not null,
  primary key (grant_id, operation, subject, fields)
);

alter table agents add column previous_webhook_secret_sealed bytea;
alter table agents add column webhook_secret_replaced_at timestamptz;
alter table agents add constraint agents_previous_webhook_secret check (
  (previous_webhook_secret_sealed is null) = (webhook_secret_replaced_at is null)
);
