-- A deleted account keeps its row, because agents and orders refer to the user's id, and no personal data.
alter table users add column deleted_at timestamptz;
-- Not validated: every row there is has no date, so the constraint holds without reading them under the lock.
alter table users add constraint users_deleted check (
  deleted_at is null
  or (username is null and display_name is null and twitter_username is null and google_email is null
    and avatar_url is null and bio is null)
) not valid;
