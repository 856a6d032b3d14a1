-- One transaction can contain several transfers to the treasury. Each is a transfer of its own.
alter table transfers add column transfer_index int not null default 0 check (transfer_index between 0 and 9999);
alter table transfers drop constraint transfers_pkey;
alter table transfers add primary key (network, reference, transfer_index);
-- Its name in the ledger's accounts.
alter table transfers add column subject text not null generated always as (
  case transfer_index when 0 then reference else reference || '.' || transfer_index end
) stored;
create unique index transfers_subject on transfers (network, subject);

-- Several purchases can be paid in one transaction.
drop index hires_reference;
create index purchases_reference on purchases (network, reference) where reference is not null;
drop index hires_settlement;
-- The same law for orders: `transfers` has one transfer for each purpose, and one purpose for each transfer.
drop index orders_by_payment;
