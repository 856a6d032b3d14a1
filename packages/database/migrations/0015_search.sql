-- The filters of a search are in the indexes of words and of titles, so that one scan finds what passes all of them.
create extension if not exists btree_gin;
drop index listings_search;
create index listings_search on listings using gin (search, category, price_type) where active and marketable;
drop index listings_title_like;
create index listings_title_like on listings using gin (lower(title) gin_trgm_ops, category, price_type)
  where active and marketable;

-- Our statements are short: compiling one takes longer than running it. It is set for the database, because a pooler
-- in transaction mode does not pass startup parameters on.
do $$ begin
  execute format('alter database %I set jit = off', current_database());
end $$;
