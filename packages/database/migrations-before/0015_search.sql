-- The filters of a search are in the indexes of words and of titles, so that one scan finds what passes all of them. The old
-- indexes are dropped last: until then the table can be read while the new ones are built.
create extension if not exists btree_gin;
create index listings_search_filtered on listings using gin (search, category, price_type)
  where active and marketable;
create index listings_title_like_filtered on listings using gin (lower(title) gin_trgm_ops, category, price_type)
  where active and marketable;
drop index listings_search;
drop index listings_title_like;
alter index listings_search_filtered rename to listings_search;
alter index listings_title_like_filtered rename to listings_title_like;

-- Our statements are short: compiling one takes longer than running it. It is set for the database, because a pooler
-- in transaction mode does not pass startup parameters on. Without the right to set it, statements are only slower.
do $$ begin
  execute format('alter database %I set jit = off', current_database());
exception when insufficient_privilege then
  raise warning 'jit stays on: only the owner of database % can turn it off', current_database();
end $$;
