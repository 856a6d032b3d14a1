-- What refers to an uploaded file: an order, a bounty or an x402 purchase. `ended` when that ended with a payment: such a row keeps
-- the file for good. The row of what ends unpaid is deleted, and with its last row the file.
create table upload_uses (
  upload_id text not null references uploads on delete cascade,
  subject text not null check (subject ~ '^(ord|bnty|hir)_'),
  ended boolean not null default false,
  primary key (upload_id, subject)
);
-- For the sweep: what has not ended, in the order of its ids.
create index upload_uses_open on upload_uses (subject) where not ended;
