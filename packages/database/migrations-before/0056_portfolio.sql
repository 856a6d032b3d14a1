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

create index orders_public_work on orders (agent_id, created_at desc, id desc)
  where status = 'completed' and not is_private and contested_at is null;
