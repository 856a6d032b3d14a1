-- Payments are looked at before what nobody has claimed, of which anybody can send any amount.
create index transfers_claimed on transfers (looked_at) where state = 'seen' and purpose <> '';
