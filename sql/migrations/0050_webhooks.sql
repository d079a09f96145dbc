-- Webhooks, their signing secrets and their deliveries.

CREATE TABLE webhooks (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  url           text NOT NULL,
  events        text[] NOT NULL,
  description   text,
  is_active     boolean NOT NULL DEFAULT true,
  active_since  timestamptz NOT NULL,          -- what happened before is none of its business
  failing_since timestamptz,                   -- first failed attempt since the last good one
  disabled_at   timestamptz,                   -- disabled by us, after five days of failures
  deleted_at    timestamptz,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL
);
-- Creation times are cursors.
CREATE UNIQUE INDEX webhooks_listed ON webhooks (workspace_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;

-- The newest one signs; those that were rotated out sign as well until they expire.
CREATE TABLE webhook_secrets (
  webhook_id uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  secret     bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz, -- null: in force
  PRIMARY KEY (webhook_id, secret)
);
CREATE UNIQUE INDEX webhook_secrets_in_force ON webhook_secrets (webhook_id) WHERE expires_at IS NULL;

-- One row. Deliverers keep all webhooks in memory and load them anew when this number has changed. Every change locks
-- the row until it commits, so numbers become visible in their order.
CREATE TABLE webhook_changes (version bigint NOT NULL);
INSERT INTO webhook_changes VALUES (0);

-- Deliveries of clicks are here only while they fail, and the newest ones of each webhook.
CREATE TABLE webhook_deliveries (
  id              uuid PRIMARY KEY,            -- derived from webhook and event
  workspace_id    uuid NOT NULL,
  webhook_id      uuid NOT NULL REFERENCES webhooks (id),
  event_id        uuid NOT NULL,
  type            text NOT NULL,
  body            text NOT NULL,               -- the very bytes that are sent and signed
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts        integer NOT NULL DEFAULT 0,
  response_status integer,
  response_body   text,
  error           text,
  next_attempt_at timestamptz,                 -- while an attempt is under way: when it counts as lost
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
);
-- Creation times are cursors.
CREATE UNIQUE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
-- A thousand of these rows come and go in a second on a busy webhook.
ALTER TABLE webhook_deliveries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX webhook_deliveries_old_clicks ON webhook_deliveries (webhook_id, status, created_at)
  WHERE type = 'click.created' AND status <> 'pending';

-- A plan that lapses silences its webhooks, one that is renewed wakes them.
CREATE FUNCTION note_plan_change_for_webhooks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_changes SET version = version + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER workspaces_plan_webhooks AFTER UPDATE OF plan, plan_status ON workspaces
  FOR EACH ROW WHEN (OLD.plan <> NEW.plan OR OLD.plan_status <> NEW.plan_status)
  EXECUTE FUNCTION note_plan_change_for_webhooks();
