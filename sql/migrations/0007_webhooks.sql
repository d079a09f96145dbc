-- Webhooks, their signing secrets, the outbox of their events, and their deliveries.

-- Events of records, written in the transaction that causes them and removed by the deliverer.
CREATE TABLE webhook_outbox (
  id           uuid PRIMARY KEY, -- UUIDv7: the event's id, and its `webhook-id`
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  type         text NOT NULL,
  data         jsonb NOT NULL,            -- of `link.*`: { link, previous }, as `link_json` returns them
  created_at   timestamptz NOT NULL DEFAULT now(),
  is_test      boolean NOT NULL DEFAULT false, -- by `POST /webhooks/trigger`: filters and batches do not apply
  link_id      uuid,                      -- of `link.*`: a transaction has one event for each link
  xid          xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX webhook_outbox_age ON webhook_outbox (created_at);
CREATE UNIQUE INDEX webhook_outbox_link ON webhook_outbox (link_id, xid) WHERE link_id IS NOT NULL;

CREATE TABLE webhooks (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  url           text NOT NULL,
  events        text[] NOT NULL,
  description   text,
  filter        jsonb,                         -- `WebhookFilter`; null: every event
  format        text NOT NULL DEFAULT 'json' CHECK (format IN ('json', 'slack', 'discord', 'get')),
  batch         jsonb,                         -- `WebhookBatch` of clicks; null: each alone
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
-- Triggers of links look for these.
CREATE INDEX webhooks_of_links ON webhooks (workspace_id) WHERE is_active AND deleted_at IS NULL
  AND events && '{link.created,link.updated,link.deleted}'::text[];
CREATE INDEX webhooks_of_folders ON webhooks (workspace_id)
  WHERE is_active AND deleted_at IS NULL AND filter ? 'folder_ids';
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

-- Clicks of webhooks that get them in batches, until a batch is made. The lane that adds them advances in the same
-- transaction, so each click comes once.
CREATE TABLE webhook_batched_clicks (
  webhook_id   uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id     uuid NOT NULL,
  workspace_id uuid NOT NULL,
  link_id      uuid NOT NULL,
  visitor_id   uuid NOT NULL,
  clicked_at   timestamptz NOT NULL,
  click        json NOT NULL,          -- as the API shows it
  seen_at      timestamptz NOT NULL,   -- of the deliverer's clock: a batch is due some seconds later
  PRIMARY KEY (webhook_id, event_id)
);
CREATE INDEX webhook_batched_clicks_due ON webhook_batched_clicks (webhook_id, seen_at, event_id);
ALTER TABLE webhook_batched_clicks SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- The links and visitors of a batch's clicks, for erasure.
CREATE FUNCTION batch_subjects(body text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(DISTINCT subject), '{}')
  FROM json_array_elements(
      CASE json_typeof(body::json -> 'data') WHEN 'array' THEN body::json -> 'data' ELSE '[]' END) AS click,
    LATERAL (VALUES (click ->> 'link_id'), (click ->> 'visitor_id')) AS of_click (subject)
$$;
CREATE INDEX webhook_deliveries_of_batch ON webhook_deliveries USING gin (batch_subjects(body))
  WHERE type = 'click.created.batch';

-- Programs that get events over a stream of the API, in place of an address. One that has not been seen for five
-- minutes is gone, with its events.
CREATE TABLE webhook_listeners (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  events       text[] NOT NULL,
  secret       bytea NOT NULL,
  active_since timestamptz NOT NULL, -- earlier events are not sent
  seen_at      timestamptz NOT NULL
);
CREATE INDEX webhook_listeners_workspace ON webhook_listeners (workspace_id);

CREATE TABLE webhook_listener_events (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- of one listener in the order of commits
  listener_id uuid NOT NULL REFERENCES webhook_listeners (id) ON DELETE CASCADE,
  event_id    uuid NOT NULL,
  body        text NOT NULL,
  made_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (listener_id, event_id)
);
CREATE INDEX webhook_listener_events_of ON webhook_listener_events (listener_id, id);
CREATE INDEX webhook_listener_events_age ON webhook_listener_events (made_at);

-- The folder of a link until it moved, null: none. A click counts for the folder of its link at the click, however late
-- it is read. Only of workspaces with an active webhook, which may get a filter of folders before it reads the click.
CREATE TABLE link_folder_moves (
  link_id   uuid NOT NULL,
  folder_id uuid,
  moved_at  timestamptz NOT NULL
);
CREATE INDEX link_folder_moves_of_link ON link_folder_moves (link_id, moved_at);
CREATE INDEX link_folder_moves_age ON link_folder_moves (moved_at);

-- Triggers write the events of links, because many statements change links: of the API, of bio pages, programs, domains,
-- imports, and the winner of a split.

-- A link as `sql/links/links.ts` selects it. A password's hash is only told as set.
CREATE FUNCTION link_json(l links, d destinations) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE micros CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
BEGIN
  RETURN to_jsonb(l) || jsonb_build_object(
    'domain', (SELECT domain FROM domains WHERE number = l.domain_number),
    'password_hash', CASE WHEN l.password_hash IS NOT NULL THEN 'set' END,
    'split_ends_at', to_char(l.split_ends_at AT TIME ZONE 'UTC', micros),
    'starts_at', to_char(l.starts_at AT TIME ZONE 'UTC', micros),
    'expires_at', to_char(l.expires_at AT TIME ZONE 'UTC', micros),
    'created_at', to_char(l.created_at AT TIME ZONE 'UTC', micros),
    'updated_at', to_char(GREATEST(l.updated_at, d.updated_at) AT TIME ZONE 'UTC', micros),
    'name', d.name, 'destination_url', d.destination_url, 'external', d.external, 'tags', d.tags,
    'folder_id', d.folder_id);
END $$;

-- Whether the workspace has a webhook or a listener that gets events of links.
CREATE FUNCTION wants_link_events(workspace uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM webhooks AS w WHERE w.workspace_id = workspace AND w.is_active AND w.deleted_at IS NULL
      AND w.events && '{link.created,link.updated,link.deleted}'::text[])
    OR EXISTS (SELECT FROM webhook_listeners AS l WHERE l.workspace_id = workspace
      AND l.events && '{link.created,link.updated,link.deleted}'::text[]);
END $$;

CREATE FUNCTION has_webhook(workspace uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM webhooks AS w WHERE w.workspace_id = workspace AND w.is_active AND w.deleted_at IS NULL)
$$;

-- Returns a UUIDv7.
CREATE FUNCTION new_event_id() RETURNS uuid LANGUAGE sql AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid
$$;

-- Adds an event of a link. Further changes of the link in the transaction change the event: receivers get one.
CREATE FUNCTION add_link_event(event_type text, link jsonb, previous jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO webhook_outbox (id, workspace_id, type, data, link_id)
  VALUES (new_event_id(), (link ->> 'workspace_id')::uuid, event_type,
    jsonb_build_object('link', link, 'previous', previous), (link ->> 'id')::uuid)
  ON CONFLICT (link_id, xid) WHERE link_id IS NOT NULL DO UPDATE SET
    data = webhook_outbox.data || jsonb_build_object('link', excluded.data -> 'link'),
    type = CASE WHEN webhook_outbox.type = 'link.deleted' AND excluded.type = 'link.created' THEN 'link.updated'
      WHEN excluded.type = 'link.updated' THEN webhook_outbox.type ELSE excluded.type END
$$;

CREATE FUNCTION add_events_of_new_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_link_event('link.created', link_json(l, d), NULL)
  FROM new_rows AS row JOIN links AS l ON l.id = row.id JOIN destinations AS d ON d.id = l.destination_id
  WHERE l.deleted_at IS NULL AND is_from_archive() IS NOT TRUE AND wants_link_events(row.workspace_id);
  RETURN NULL;
END $$;
CREATE TRIGGER links_inserted_event AFTER INSERT ON links REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION add_events_of_new_links();

CREATE FUNCTION add_events_of_changed_link() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  campaign destinations;
  former destinations;
BEGIN
  SELECT * INTO campaign FROM destinations WHERE id = NEW.destination_id;
  former := campaign;
  IF OLD.destination_id <> NEW.destination_id THEN
    SELECT * INTO former FROM destinations WHERE id = OLD.destination_id;
    IF former.folder_id IS DISTINCT FROM campaign.folder_id AND has_webhook(NEW.workspace_id) THEN
      INSERT INTO link_folder_moves VALUES (NEW.id, former.folder_id, clock_timestamp());
    END IF;
  END IF;
  IF NOT wants_link_events(NEW.workspace_id) THEN
    RETURN NULL;
  END IF;
  IF OLD.deleted_at IS NOT NULL THEN
    PERFORM add_link_event('link.created', link_json(NEW, campaign), NULL);
  ELSIF NEW.deleted_at IS NOT NULL THEN
    PERFORM add_link_event('link.deleted', link_json(OLD, former), link_json(OLD, former));
  ELSE
    PERFORM add_link_event('link.updated', link_json(NEW, campaign), link_json(OLD, former));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER links_updated_event AFTER UPDATE ON links FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL OR NEW.deleted_at IS NULL) EXECUTE FUNCTION add_events_of_changed_link();

-- A campaign changes for all its links.
CREATE FUNCTION add_events_of_changed_campaign() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.folder_id IS DISTINCT FROM NEW.folder_id THEN
    INSERT INTO link_folder_moves SELECT id, OLD.folder_id, clock_timestamp() FROM links
      WHERE destination_id = NEW.id AND has_webhook(NEW.workspace_id);
  END IF;
  PERFORM add_link_event('link.updated', link_json(l, NEW), link_json(l, OLD)) FROM links AS l
  WHERE l.destination_id = NEW.id AND l.deleted_at IS NULL AND wants_link_events(NEW.workspace_id);
  RETURN NULL;
END $$;
CREATE TRIGGER destinations_updated_event AFTER UPDATE ON destinations FOR EACH ROW
  WHEN ((OLD.name, OLD.destination_url, OLD.external, OLD.tags, OLD.folder_id)
    IS DISTINCT FROM (NEW.name, NEW.destination_url, NEW.external, NEW.tags, NEW.folder_id))
  EXECUTE FUNCTION add_events_of_changed_campaign();
