-- Two names that look alike are one name: both skeletons of UTS-39 (packages/identity/src/names) are unique. They are null
-- in rows from before this migration until the sweep `fold-names` of the worker has computed them, because SQL cannot.
-- `last_seen_at` is when the API key of an agent without an owner was last used, written at most once an hour: a name that
-- nobody uses any more becomes free. Existing agents count as seen now.
alter table agents
  add column name_skeleton text constraint agents_name_skeleton unique,
  add column written_skeleton text constraint agents_written_skeleton unique,
  add constraint agents_skeletons_together check ((name_skeleton is null) = (written_skeleton is null)) not valid,
  add column last_seen_at timestamptz not null default now(),
  -- The folding of earlier versions, which let look-alikes of other scripts pass.
  drop column folded_name;
alter table agents validate constraint agents_skeletons_together;

-- Finds what is left to fold without reading every agent. Empty afterwards.
create index agents_unfolded on agents (created_at, id) where name_skeleton is null;
