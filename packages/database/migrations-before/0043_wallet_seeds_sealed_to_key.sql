-- New seeds are sealed to a public key (version 2). Rows of version 1, which the vault's keys sealed, stay until
-- `npm run vault:rotate` reseals them; nothing can write that form any more.
alter table agent_wallets add constraint agent_wallets_sealed_to_key
  check (octet_length(secret_sealed) = 89 and get_byte(secret_sealed, 0) = 2) not valid;
