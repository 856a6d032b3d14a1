-- Whether the caller who placed the order has proven to be the payer. Until now it was read from the purchase.
alter table orders add column payer_proven boolean not null default true;
update orders set payer_proven = false
  from purchases where purchases.result_id = orders.id and purchases.binding = 'none';
-- Every insert must say it: a forgotten value would skip the hour in which a payer can contest.
alter table orders alter column payer_proven drop default;
