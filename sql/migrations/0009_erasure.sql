-- Deleted visitors and histories of bio buttons: gone from every response at once, and queued here until ClickHouse
-- has rewritten its parts.
CREATE TABLE erasures (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  kind         text NOT NULL CHECK (kind IN ('visitor', 'link')),
  target_id    uuid NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  done_at      timestamptz,
  -- Emails and users that only the erased visitor had, until the erasure is done: orders that name only these may
  -- still be in the log.
  emails       text[] NOT NULL DEFAULT '{}',
  users        text[] NOT NULL DEFAULT '{}',
  UNIQUE (workspace_id, kind, target_id)
);
-- Each stored range of the log is checked for erasures since its oldest event.
CREATE INDEX erasures_requested ON erasures (requested_at);
