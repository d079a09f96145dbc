-- The newest visitor who is known to be a user, however many there are.
CREATE INDEX identities_user_newest ON identities (workspace_id, external_user_id, last_ts DESC)
  WHERE external_user_id IS NOT NULL;
DROP INDEX identities_user;
CREATE INDEX visitor_users_user_newest ON visitor_users (workspace_id, external_user_id, last_ts DESC);
DROP INDEX visitor_users_user;
