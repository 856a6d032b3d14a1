-- One transaction can contain several transfers to the treasury. Each is a transfer of its own.
alter table transfers add column transfer_index int not null default 0 check (transfer_index between 0 and 9999);
alter table transfers drop constraint transfers_pkey;
alter table transfers add primary key (network, reference, transfer_index);
-- A row from before this migration stands for every transfer of its EVM transaction.
alter table transfers add column is_whole boolean not null default false;
update transfers set is_whole = true where network <> 'solana-mainnet';
-- Its name in the ledger's accounts.
alter table transfers add column subject text not null generated always as (
  case transfer_index when 0 then reference else reference || '.' || transfer_index end
) stored;
create unique index transfers_subject on transfers (network, subject);

-- Several purchases can be paid in one transaction.
drop index hires_reference;
create index purchases_reference on purchases (network, reference) where reference is not null;
drop index hires_settlement;
-- Orders need no unique index of their own: `transfers` allows one purpose per transfer and one transfer per purpose.
drop index orders_by_payment;
