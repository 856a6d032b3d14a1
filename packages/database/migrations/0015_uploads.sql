-- Files that callers uploaded. The row is written before the object, whose key is the id: whatever happens to the process, the
-- sweep finds every object by its row.
create table uploads (
  id text primary key check (id like 'upl\_%'),
  owner text not null check (owner ~ '^(user|wallet|agent):.'),
  -- A base name with the extension of its media type, never a path.
  file_name text not null check (char_length(file_name) between 1 and 120 and file_name !~ '[/\\[:cntrl:]]'),
  media_type text not null check (media_type in (
    'image/jpeg', 'image/png', 'image/webp', 'image/gif', 'video/mp4', 'video/webm', 'video/quicktime',
    'application/pdf', 'application/zip', 'text/plain'
  )),
  -- `deleting` is final: nothing can refer to the file any more, and its object may be gone.
  state text not null check (state in ('pending', 'stored', 'deleting')),
  size_bytes bigint check (size_bytes between 1 and 52428800),
  sha256 bytea check (octet_length(sha256) = 32),
  -- What refers to the file. Whether it is private is decided by the first order that refers to it.
  used_for text check (used_for in ('reference', 'deliverable')),
  used_at timestamptz,
  is_private boolean,
  created_at timestamptz not null,
  constraint uploads_stored check (state <> 'stored' or (size_bytes is not null and sha256 is not null)),
  constraint uploads_used check (
    (used_at is null) = (used_for is null) and (used_at is null) = (is_private is null)
    and (used_at is null or state = 'stored')
  )
);
-- For the sweep: what nothing refers to. It stays small, because such a file lives for a day at most.
create index uploads_unused on uploads (created_at) where used_at is null;
-- For the deletion of an account.
create index uploads_owner on uploads (owner);

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

-- What each owner has uploaded on a day in UTC, for the quota.
create table upload_totals (
  day date not null,
  owner text not null,
  files integer not null check (files > 0),
  bytes bigint not null check (bytes > 0),
  primary key (day, owner)
);
