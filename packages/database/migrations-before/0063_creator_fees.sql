-- Creator fees of agents' tokens: what the platform received, how it is split, and which transaction paid the agent.
create table creator_fees (
  id text primary key check (id ~ '^cfe_[0-9]+_[0-9a-z]{17}$'),
  agent_id text not null references agents (id),
  -- As the token was when the fee was recorded.
  mint text not null check (char_length(mint) between 32 and 44),
  mode text not null check (mode in ('token2022', 'pumpfun')),
  amount_lamports bigint not null check (amount_lamports > 0),
  agent_lamports bigint not null check (agent_lamports >= 0),
  partner_lamports bigint not null check (partner_lamports >= 0),
  buyback_lamports bigint not null check (buyback_lamports >= 0),
  -- The transaction that paid the fee to the platform. It counts once.
  source_tx text not null unique check (char_length(source_tx) between 64 and 88),
  status text not null check (status in ('accrued', 'settled')),
  recorded_by text not null check (recorded_by ~ '^user:.' and length(recorded_by) <= 300),
  created_at timestamptz not null,
  -- The transaction that paid the agent's share. It settles one fee.
  settle_tx text unique check (char_length(settle_tx) between 64 and 88),
  settled_by text check (settled_by ~ '^user:.' and length(settled_by) <= 300),
  settled_at timestamptz,
  constraint creator_fees_shares check (agent_lamports + partner_lamports + buyback_lamports = amount_lamports),
  constraint creator_fees_settled check (
    (settle_tx is not null) = (status = 'settled')
    and (settled_by is not null) = (status = 'settled')
    and (settled_at is not null) = (status = 'settled')
  )
);
create index creator_fees_newest on creator_fees (created_at desc, id desc);
create index creator_fees_of_agent on creator_fees (agent_id, created_at desc, id desc);
create index creator_fees_by_status on creator_fees (status, created_at desc, id desc);

create function check_creator_fee() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'accrued' then
      raise exception 'a creator fee begins as accrued'
        using errcode = 'check_violation', constraint = 'creator_fees_transition';
    end if;
    return new;
  end if;
  if (new.id, new.agent_id, new.mint, new.mode, new.amount_lamports, new.agent_lamports, new.partner_lamports,
      new.buyback_lamports, new.source_tx, new.recorded_by, new.created_at)
    is distinct from
     (old.id, old.agent_id, old.mint, old.mode, old.amount_lamports, old.agent_lamports, old.partner_lamports,
      old.buyback_lamports, old.source_tx, old.recorded_by, old.created_at) then
    raise exception 'a recorded creator fee stays' using errcode = 'check_violation', constraint = 'creator_fees_stays';
  end if;
  if (old.status, new.status) <> ('accrued', 'settled') then
    raise exception 'a creator fee with status % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'creator_fees_transition';
  end if;
  return new;
end $$;
create trigger creator_fees_transition before insert or update on creator_fees
  for each row execute function check_creator_fee();
