-- An order that came with its payment and with a credential was placed for a user, wallet or agent, who reviews the delivery.
-- Without one, nobody is there to review it.
alter table orders add column for_principal boolean not null default false;
alter table orders add constraint orders_for_principal check (not for_principal or payment_method is not null) not valid;
alter table orders validate constraint orders_for_principal;
