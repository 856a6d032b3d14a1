-- Tables and columns are named by the terms of docs/glossary.md.
alter table hires rename to purchases;
alter table sendings rename to outgoing_transfers;
alter table outgoing_transfers rename column booked_at to written_off_at;
alter table delivery_lanes rename to delivery_queues;
alter table payout_gates rename to payout_guards;
alter table payout_guards rename column life to database_epoch;
alter table payout_guards rename column counted_life to counted_epoch;
alter table rail_nonces rename to payout_nonces;
alter table reserve_looks rename to reserve_snapshots;
alter table reserve_snapshots rename column looked_at to taken_at;
alter table reserve_leaves rename column look_id to snapshot_id;
alter table transfers rename column looked_at to checked_at;
alter table payouts rename column told_agent to notified_agent;
alter table requests rename column answer_sealed to response_sealed;
alter table user_wallets rename column vouched_at to verified_at;

-- Waiting jobs keep their time under the new name of the job. A new database has no queue yet.
do $$ begin
  if to_regclass('graphile_worker._private_jobs') is not null then
    update graphile_worker._private_tasks set identifier = 'deliver-events' where identifier = 'carry-events';
    update graphile_worker._private_jobs
      set key = replace(replace(key, 'carry-events-held:', 'deliver-events-leased:'), 'carry-events', 'deliver-events')
      where key like 'carry-events%';
  end if;
end $$;
