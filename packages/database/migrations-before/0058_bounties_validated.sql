-- In a migration of its own: validating reads the whole tables, which other transactions can use meanwhile.
alter table orders validate constraint orders_payment_method_check;
alter table orders validate constraint orders_source;
alter table orders validate constraint orders_price_micros_check;
alter table activity validate constraint activity_listing;
alter table payment_intents validate constraint payment_intents_purpose_kind_check;
