-- In a transaction of its own: reading every row takes no lock that blocks writes.
alter table order_steps validate constraint order_steps_transition;
alter table order_steps validate constraint order_steps_actor;
