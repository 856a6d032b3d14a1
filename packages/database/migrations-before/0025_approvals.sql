-- What moves money elsewhere is proposed by one operator and approved by another (packages/core/src/approvals).
create table approvals (
  id text primary key,
  kind text not null check (kind ~ '^[a-z_]{3,40}$'),
  payload jsonb not null check (jsonb_typeof(payload) = 'object'),
  -- What it is about: an order, a payout, unmatched money.
  subject text not null check (length(subject) between 1 and 200),
  -- What happens when it is approved, as a sentence for the second operator and for those it concerns.
  summary text not null check (length(summary) between 1 and 500),
  reason text not null check (length(reason) between 3 and 500),
  proposer text not null,
  approver text,
  rejected_by text,
  state text not null default 'pending' check (state in ('pending', 'approved', 'rejected', 'expired')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  constraint approvals_two_people check (proposer <> approver),
  constraint approvals_in_time check (expires_at > created_at and (state <> 'approved' or decided_at < expires_at)),
  constraint approvals_decided check (
    (approver is not null) = (state = 'approved') and (rejected_by is not null) = (state = 'rejected')
    and (decided_at is not null) = (state <> 'pending'))
);
create index approvals_newest on approvals (created_at desc, id desc);
create index approvals_approved on approvals (kind, subject) where state = 'approved';
create index approvals_pending on approvals (created_at desc, id desc) where state = 'pending';

create function approval_transition_allowed(from_state text, to_state text) returns boolean
  language sql immutable strict parallel safe
  return (from_state, to_state) in (('pending', 'approved'), ('pending', 'rejected'), ('pending', 'expired'));

-- A decision is final, and what was proposed does not change.
create function check_approval_change() returns trigger language plpgsql as $$
begin
  if not approval_transition_allowed(old.state, new.state) then
    raise exception 'approval % cannot change from % to %', old.id, old.state, new.state
      using errcode = 'check_violation', constraint = 'approvals_transition';
  end if;
  if (old.id, old.kind, old.payload, old.subject, old.summary, old.reason, old.proposer, old.created_at, old.expires_at)
    is distinct from
    (new.id, new.kind, new.payload, new.subject, new.summary, new.reason, new.proposer, new.created_at, new.expires_at)
  then
    raise exception 'approval % cannot be changed', old.id
      using errcode = 'check_violation', constraint = 'approvals_proposal';
  end if;
  return new;
end $$;

create trigger approvals_transition before update on approvals
  for each row execute function check_approval_change();
