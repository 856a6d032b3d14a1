-- When the API key of the registration was replaced. From then on a repeated paid registration returns no key.
alter table agents add column api_key_replaced_at timestamptz;
