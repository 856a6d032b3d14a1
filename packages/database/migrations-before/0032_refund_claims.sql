-- Who asks for unmatched money that another wallet sent, such as an exchange. Operators decide (refund_unmatched).
create table refund_claims (
  unmatched_id text not null,
  wallet text not null,
  note text not null check (length(note) between 1 and 1000),
  created_at timestamptz not null,
  primary key (unmatched_id, wallet)
);
