-- Listings follow their agent: one that finds an owner shows what it offers from the same moment.

create function show_listings() returns trigger language plpgsql as $$
begin
  update listings set marketable = new.marketable where agent_id = new.id and marketable <> new.marketable;
  return null;
end $$;

create trigger agents_show_listings after update on agents
  for each row when (old.marketable is distinct from new.marketable)
  execute function show_listings();

-- What cannot be ordered is not offered: an order costs at most a million.
alter table listings add constraint listings_price_most check (price_micros <= 1000000000000);
alter table listings add constraint listings_requirements check (jsonb_array_length(requirement_fields) <= 12);

-- A price type that few listings have would else be looked for among all of them.
create index listings_of_price_type on listings (price_type, settled_buyers desc, id desc) where active and marketable;
