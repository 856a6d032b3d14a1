-- Money that may turn out to be another's leaves no earlier, in whichever round it is sent.
alter table payouts add column not_before timestamptz;
