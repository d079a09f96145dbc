-- Users whom visitors gave without an email. Those that came with one are in identities.
CREATE TABLE visitor_users (
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  visitor_id       uuid NOT NULL,
  external_user_id text NOT NULL,
  last_ts          bigint NOT NULL,        -- microseconds
  PRIMARY KEY (workspace_id, visitor_id, external_user_id)
);
CREATE INDEX visitor_users_user ON visitor_users (workspace_id, external_user_id);
CREATE INDEX identities_user ON identities (workspace_id, external_user_id) WHERE external_user_id IS NOT NULL;
