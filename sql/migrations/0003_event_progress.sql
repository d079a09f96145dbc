-- Streams of the event log, lanes of its consumers, exact max_clicks, orders and identities.

CREATE TABLE ingest_streams (
  stream_id      uuid PRIMARY KEY,
  ordinal        smallint NOT NULL UNIQUE CHECK (ordinal BETWEEN 0 AND 999),
  name           text NOT NULL,
  high_water     numeric(20) NOT NULL DEFAULT -1, -- last sequence inserted into ClickHouse; -1: none
  visible_before bigint NOT NULL DEFAULT 0,       -- microseconds: every event older than this is visible
  state          text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'retired')),
  created_at     timestamptz NOT NULL DEFAULT now()
);

-- One row per consumer and partition. `epoch` fences: whoever raises it owns the lane. `intent` is the exact
-- range about to be inserted, with its token; whoever finds one replays that very range.
CREATE TABLE log_lanes (
  consumer    text NOT NULL,
  partition   text NOT NULL,
  epoch       bigint NOT NULL DEFAULT 0,
  next_offset numeric(20) NOT NULL DEFAULT 0,
  intent      jsonb,
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, partition)
);

CREATE TABLE dead_letters (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partition  text NOT NULL,
  log_offset numeric(20) NOT NULL,
  stream_id  uuid,
  sequence   numeric(20),
  reason     text NOT NULL,
  payload    bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  replayed_at timestamptz,
  UNIQUE NULLS NOT DISTINCT (partition, log_offset, stream_id, sequence)
);

-- Credits of links with max_clicks, leased by streams. sum(granted) never exceeds max_clicks; `used` grows in the
-- transaction that advances a lane, by the counted clicks in it.
CREATE TABLE link_leases (
  link_id   uuid NOT NULL REFERENCES links (id),
  stream_id uuid NOT NULL REFERENCES ingest_streams (stream_id),
  granted   bigint NOT NULL DEFAULT 0,
  used      bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (link_id, stream_id),
  CHECK (granted >= 0 AND used >= 0)
);

CREATE TABLE orders (
  internal_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id       uuid NOT NULL REFERENCES workspaces (id),
  order_id           text NOT NULL,
  version            numeric(20) NOT NULL, -- a server's report beats the pixel's, then the earliest wins
  source             text NOT NULL CHECK (source IN ('pixel', 'server')),
  ts                 bigint NOT NULL,      -- microseconds
  stream_ordinal     smallint NOT NULL,
  visitor_id         uuid,
  email              text,
  external_user_id   text,
  amount_minor       bigint NOT NULL,
  currency           text NOT NULL,
  attribution_model  text NOT NULL,        -- the workspace's when the order was first seen
  attribution_window integer NOT NULL,
  attributed_version numeric(20),          -- the version whose order_credits stand in ClickHouse
  UNIQUE (workspace_id, order_id)
);
CREATE INDEX orders_unattributed ON orders (ts) WHERE attributed_version IS DISTINCT FROM version;

-- Which email a visitor gave: the newest is the visitor's email, all of them join visitors for attribution.
CREATE TABLE identities (
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  visitor_id       uuid NOT NULL,
  email            text NOT NULL,          -- lower case
  external_user_id text,
  first_ts         bigint NOT NULL,        -- microseconds
  last_ts          bigint NOT NULL,
  PRIMARY KEY (workspace_id, visitor_id, email)
);
CREATE INDEX identities_email ON identities (workspace_id, email);

-- What must be gone from every answer: deleted visitors and bio buttons' histories are queued here until the
-- store has rewritten them.
CREATE TABLE erasures (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  kind         text NOT NULL CHECK (kind IN ('visitor', 'link')),
  target_id    uuid NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  done_at      timestamptz,
  UNIQUE (workspace_id, kind, target_id)
);
