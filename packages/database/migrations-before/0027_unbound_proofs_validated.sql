-- In a transaction of its own: reading every row takes no lock that blocks writes.
alter table order_steps validate constraint order_steps_transition;
alter table order_steps validate constraint order_steps_actor;
alter table payouts validate constraint payouts_hold_code;
alter table orders validate constraint orders_payout_wait;
alter table orders validate constraint orders_contested;
alter table orders validate constraint orders_contest_ends;
