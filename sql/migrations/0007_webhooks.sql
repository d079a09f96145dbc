-- Webhooks, their signing secrets, the outbox of their events, and their deliveries.

-- Events of records, written in the transaction that causes them and removed by the deliverer.
CREATE TABLE webhook_outbox (
  id           uuid PRIMARY KEY, -- UUIDv7: the event's id, and its `webhook-id`
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  type         text NOT NULL,
  data         jsonb NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_outbox_age ON webhook_outbox (created_at);

CREATE TABLE webhooks (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  url           text NOT NULL,
  events        text[] NOT NULL,
  description   text,
  is_active     boolean NOT NULL DEFAULT true,
  active_since  timestamptz NOT NULL,          -- earlier events are not sent
  failing_since timestamptz,                   -- first failed attempt since the last success
  failing_days  integer NOT NULL DEFAULT 0,    -- UTC days with a failed attempt since the last success
  failed_on     date,                          -- the newest of them
  disabled_at   timestamptz,                   -- by the service, after five days of failures
  deleted_at    timestamptz,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL
);
-- Creation times are cursors.
CREATE UNIQUE INDEX webhooks_listed ON webhooks (workspace_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;

-- The newest one signs; rotated ones sign too until they expire.
CREATE TABLE webhook_secrets (
  webhook_id uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  secret     bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz, -- null: in force
  PRIMARY KEY (webhook_id, secret)
);
CREATE UNIQUE INDEX webhook_secrets_in_force ON webhook_secrets (webhook_id) WHERE expires_at IS NULL;

-- One row. Deliverers cache all webhooks and reload them when this number changes. Every change locks the row until it
-- commits, so numbers become visible in order.
CREATE TABLE webhook_changes (version bigint NOT NULL);
INSERT INTO webhook_changes VALUES (0);

-- Deliveries of clicks are stored only while they fail, and the newest of each webhook.
CREATE TABLE webhook_deliveries (
  id              uuid PRIMARY KEY,            -- derived from webhook and event
  workspace_id    uuid NOT NULL,
  webhook_id      uuid NOT NULL REFERENCES webhooks (id),
  event_id        uuid NOT NULL,
  type            text NOT NULL,
  body            text NOT NULL,               -- the exact bytes that are sent and signed
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts        integer NOT NULL DEFAULT 0,
  response_status integer,
  response_body   text,
  error           text,
  request         jsonb,                       -- of the last attempt: { url, headers }; null: no attempt yet
  next_attempt_at timestamptz,                 -- while an attempt is under way: when it counts as lost
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
);
-- Creation times are cursors.
CREATE UNIQUE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
-- A busy webhook inserts and deletes a thousand rows a second.
ALTER TABLE webhook_deliveries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX webhook_deliveries_old_clicks ON webhook_deliveries (webhook_id, status, created_at)
  WHERE type = 'click.created' AND status <> 'pending';

-- A webhook's log by type: finds rarer events without scanning its clicks. Partial, so that clicks cost nothing.
CREATE INDEX webhook_deliveries_typed ON webhook_deliveries (webhook_id, type, created_at) WHERE type <> 'click.created';
-- Erasure finds deliveries by what their bodies name: a link, a visitor, an order, a user.
CREATE INDEX webhook_deliveries_of_link ON webhook_deliveries (((body::json #>> '{data,link_id}')::uuid))
  WHERE type = 'click.created';
CREATE INDEX webhook_deliveries_of_visitor ON webhook_deliveries (((body::json #>> '{data,visitor_id}')::uuid))
  WHERE type IN ('click.created', 'lead.created', 'lead.blocked', 'sale.created', 'sale.updated');
CREATE INDEX webhook_deliveries_of_order ON webhook_deliveries ((body::json #>> '{data,order_id}'))
  WHERE type IN ('sale.created', 'sale.updated');
CREATE INDEX webhook_deliveries_of_lead ON webhook_deliveries ((body::json #>> '{data,external_user_id}'))
  WHERE type IN ('lead.created', 'lead.blocked');

-- A plan that lapses pauses its webhooks; one that is renewed resumes them.
CREATE FUNCTION bump_webhook_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_changes SET version = version + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER workspaces_plan_webhooks AFTER UPDATE OF plan, plan_status ON workspaces
  FOR EACH ROW WHEN (OLD.plan <> NEW.plan OR OLD.plan_status <> NEW.plan_status)
  EXECUTE FUNCTION bump_webhook_version();
