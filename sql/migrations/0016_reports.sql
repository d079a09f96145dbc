-- Reports: saved views that are sent on a schedule. Alerts: figures of views that are watched. Problems that owners are told of.
-- The messages to chats.

CREATE TABLE reports (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  saved_view_id uuid REFERENCES saved_views (id),
  query         jsonb,               -- its own, in the form of a saved view's; null: that of the saved view
  schedule      jsonb NOT NULL,      -- every, weekday, day, hour, time_zone
  recipients    jsonb NOT NULL,      -- [{type, address}]
  show_revenue  boolean NOT NULL,
  is_active     boolean NOT NULL,
  next_at       timestamptz,         -- of the schedule; null: paused
  requested_at  timestamptz,         -- somebody wants it now; null: nobody, or it is sent
  due_at        timestamptz,         -- when a worker looks at it: next, on request, after a failure, or the end of a claim
  sent_until    timestamptz,         -- end of the last period that the schedule sent: each is sent once
  last_sent_at  timestamptz,
  failures      integer NOT NULL DEFAULT 0, -- since the last success
  error         text,                -- why it could not be made; null: the last one was
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  UNIQUE (workspace_id, created_at),
  CHECK ((saved_view_id IS NULL) = (query IS NOT NULL)),
  CHECK (is_active = (next_at IS NOT NULL)),
  CHECK (requested_at IS NULL OR due_at IS NOT NULL)
);
CREATE INDEX reports_due ON reports (due_at);
CREATE INDEX reports_of_views ON reports (saved_view_id);

-- Each is checked once an hour, for the last whole hours.
CREATE TABLE alerts (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  saved_view_id uuid REFERENCES saved_views (id),
  query         jsonb,               -- as of reports
  condition     jsonb NOT NULL,      -- metric, type, value, percent, window_hours
  recipients    jsonb NOT NULL,      -- as of reports
  quiet_hours   smallint NOT NULL CHECK (quiet_hours BETWEEN 1 AND 168),
  is_active     boolean NOT NULL,
  state         text NOT NULL DEFAULT 'ok' CHECK (state IN ('ok', 'firing')),
  since         timestamptz NOT NULL,
  told_at       timestamptz,         -- the last start that recipients were told of
  is_told       boolean NOT NULL DEFAULT false, -- of the present start
  checked_until timestamptz,         -- end of the last checked hour
  due_at        timestamptz,         -- when a worker looks at it, or the end of a claim; null: paused
  error         text,                -- why it could not be checked; null: the last time it was
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  UNIQUE (workspace_id, created_at),
  CHECK ((saved_view_id IS NULL) = (query IS NOT NULL)),
  CHECK (is_active = (due_at IS NOT NULL))
);
CREATE INDEX alerts_due ON alerts (due_at);
CREATE INDEX alerts_of_views ON alerts (saved_view_id);

-- Starts and ends of alerts.
CREATE TABLE alert_changes (
  id           uuid PRIMARY KEY,
  alert_id     uuid NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  state        text NOT NULL CHECK (state IN ('ok', 'firing')),
  value        double precision,     -- what was found; null: a rate without clicks
  expected     double precision,     -- of a change: the mean of the weeks before
  is_told      boolean NOT NULL,     -- whether recipients were told
  at           timestamptz NOT NULL
);
CREATE INDEX alert_changes_of ON alert_changes (alert_id, id DESC);
CREATE INDEX alert_changes_age ON alert_changes (at);

-- When a worker looks for problems of a workspace.
CREATE TABLE problem_checks (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
  due_at       timestamptz NOT NULL, -- or the end of a claim
  usage_due_at timestamptz NOT NULL  -- of the plan's limits, whose figures cost more
);
CREATE INDEX problem_checks_due ON problem_checks (due_at);

-- Problems that last, and those that ended within the quiet hours.
CREATE TABLE problem_alerts (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  kind         text NOT NULL,
  subject      text NOT NULL, -- id or name of what is affected, or empty
  name         text,
  count        bigint,
  reason       text,
  state        text NOT NULL CHECK (state IN ('ok', 'firing')),
  since        timestamptz NOT NULL,
  told_at      timestamptz,      -- the last start that owners were told of
  is_told      boolean NOT NULL, -- of the present start
  PRIMARY KEY (workspace_id, kind, subject)
);

-- Destinations of the workspaces that have them checked, once a day.
CREATE TABLE destination_checks (
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  url_sha256    bytea NOT NULL,
  url           text NOT NULL,
  host          text NOT NULL,
  due_at        timestamptz NOT NULL, -- or the end of a claim
  failures      smallint NOT NULL DEFAULT 0, -- in a row
  failing_since timestamptz,          -- null: the last request did not fail
  error         text,
  PRIMARY KEY (workspace_id, url_sha256),
  CHECK ((failures > 0) = (failing_since IS NOT NULL)),
  CHECK ((failures > 0) = (error IS NOT NULL))
);
CREATE INDEX destination_checks_due ON destination_checks (due_at);
CREATE INDEX destination_checks_failing ON destination_checks (workspace_id) WHERE failures > 0;

-- Messages to incoming webhooks of chats, written in the transaction that causes them.
CREATE TABLE chat_messages (
  id              uuid PRIMARY KEY,
  workspace_id    uuid NOT NULL REFERENCES workspaces (id),
  chat            text NOT NULL CHECK (chat IN ('slack', 'discord')),
  address         text NOT NULL CHECK (length(address) <= 2048), -- whoever has it may post
  body            text,              -- null once it is over
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts        integer NOT NULL DEFAULT 0,
  error           text,
  next_attempt_at timestamptz,
  expires_at      timestamptz NOT NULL, -- no attempt begins later
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
  CHECK ((status = 'pending') = (body IS NOT NULL))
);
CREATE INDEX chat_messages_due ON chat_messages (workspace_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX chat_messages_newest ON chat_messages (workspace_id, address, created_at);
CREATE INDEX chat_messages_age ON chat_messages (created_at);
