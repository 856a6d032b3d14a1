-- With the budget: whether a transfer of a wallet could accept a claim of one of its open bounties is found in one row, also
-- when the wallet has many that cost more.
drop index bounties_open_of_wallet;
create index bounties_open_of_wallet on bounties (client_wallet, budget_micros) where status = 'open';
