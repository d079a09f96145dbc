-- Orders, with one row each for any number of reports, and the emails and users of visitors.

CREATE TABLE orders (
  internal_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id       uuid NOT NULL REFERENCES workspaces (id),
  order_id           text NOT NULL,
  -- Grows with each change of the row and orders its copies in ClickHouse: microseconds of the change, or one more than
  -- before. It uses the clock, so that it also grows when an older backup of this database is restored beside
  -- ClickHouse.
  version            bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  -- 'imported': with its own time, for reports alone. It causes no purchase, commission, or webhook.
  source             text NOT NULL CHECK (source IN ('pixel', 'server', 'imported')),
  ts                 bigint NOT NULL,      -- microseconds
  stream_ordinal     smallint NOT NULL,
  visitor_id         uuid,
  -- Earlier ids of the same browser, reported together with visitor_id or pixel_visitor_id.
  other_visitor_ids  uuid[] NOT NULL DEFAULT '{}',
  email              text,
  external_user_id   text,
  amount_minor       bigint NOT NULL,
  currency           text NOT NULL,
  commissionable_minor bigint,             -- the part of the amount that earns commission; null: all of it
  is_renewal         boolean NOT NULL DEFAULT false,
  attribution_model  text NOT NULL,        -- the workspace's when the order was first seen
  attribution_window integer NOT NULL,
  attributed_version bigint,               -- the version whose attributed shares are in ClickHouse
  -- Versions whose attributed shares may be in ClickHouse, each with its number of parts and the order's time then. Set
  -- before the shares are written, so that the next version replaces them even when it is unknown whether they arrived.
  written_shares     jsonb NOT NULL DEFAULT '[]',
  claimed_until      timestamptz,          -- a worker writes the shares until then; null: none does
  without_rate       boolean NOT NULL DEFAULT false, -- attributed without revenue: no rate was set for its currency
  pixel_visitor_id   uuid,                 -- the visitor of the pixel's report, where a server's report names none
  signup_visitor_id  uuid,                 -- the visitor of the buyer's signup
  reported_at        bigint,               -- microseconds; null: reported through the event log
  referral_evaluated_at timestamptz,          -- null: a server's order that the referral program has not evaluated
  same_as            bigint REFERENCES orders (internal_id), -- an older order of the same payment, which counts instead
  import_id          uuid,                 -- of an imported order; null: its import was undone, and it counts nowhere
  link_id            uuid,                 -- the link that an imported order names: it counts where no click of the buyer does
  CHECK (import_id IS NULL OR source = 'imported'),
  UNIQUE (workspace_id, order_id)
);
CREATE INDEX orders_unattributed ON orders (ts) WHERE attributed_version IS DISTINCT FROM version;
CREATE INDEX orders_without_rate ON orders (currency) WHERE without_rate;
CREATE INDEX orders_without_rate_of ON orders (workspace_id, currency) WHERE without_rate;
CREATE INDEX orders_unevaluated ON orders (internal_id) WHERE source = 'server' AND referral_evaluated_at IS NULL;

CREATE INDEX orders_imported ON orders (workspace_id, import_id) WHERE import_id IS NOT NULL;

CREATE INDEX orders_other_visitors ON orders USING gin (other_visitor_ids) WHERE other_visitor_ids <> '{}';
CREATE INDEX orders_server_user ON orders (workspace_id, external_user_id)
  WHERE source = 'server' AND external_user_id IS NOT NULL;

-- Orders whose row in ClickHouse is to be written: queued by the transaction that changes the order. A row that
-- ClickHouse refuses is due again later.
CREATE TABLE order_publications (
  order_internal_id bigint PRIMARY KEY REFERENCES orders (internal_id),
  due_at            timestamptz NOT NULL DEFAULT now()
);

-- Emails of visitors: the newest is the visitor's email, all of them join visitors for attribution.
CREATE TABLE identities (
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  visitor_id       uuid NOT NULL,
  email            text NOT NULL,          -- lower case
  external_user_id text,
  server_user_id   text,                   -- as reported with a secret key; money goes by it alone
  first_ts         bigint NOT NULL,        -- microseconds
  last_ts          bigint NOT NULL,
  PRIMARY KEY (workspace_id, visitor_id, email)
);
-- The newest come first: an email or a user may have very many visitors.
CREATE INDEX identities_email_newest ON identities (workspace_id, email, last_ts DESC);
CREATE INDEX identities_user_newest ON identities (workspace_id, external_user_id, last_ts DESC)
  WHERE external_user_id IS NOT NULL;

-- Users of visitors that were reported without an email; those with one are in identities.
CREATE TABLE visitor_users (
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  visitor_id       uuid NOT NULL,
  external_user_id text NOT NULL,
  by_server        boolean NOT NULL DEFAULT false, -- reported with a secret key
  first_ts         bigint NOT NULL,                -- microseconds
  last_ts          bigint NOT NULL,                -- microseconds
  PRIMARY KEY (workspace_id, visitor_id, external_user_id)
);
CREATE INDEX visitor_users_user_newest ON visitor_users (workspace_id, external_user_id, last_ts DESC);

-- Reports of the pixel with the times at which their browser got its visitor ids, as in the event log. They are stored
-- once every stream has passed them: only then it is known whether an id came with a click or in a copied address. A
-- stream without progress holds them for at most a minute.
CREATE TABLE waiting_reports (
  internal_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ts             bigint NOT NULL,          -- microseconds
  stream_ordinal smallint NOT NULL,
  partition      text NOT NULL,
  log_offset     numeric(20) NOT NULL,
  stream_id      uuid NOT NULL,
  sequence       numeric(20) NOT NULL,
  payload        bytea NOT NULL,           -- the encoded event
  created_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (stream_ordinal, sequence)
);
CREATE INDEX waiting_reports_oldest ON waiting_reports (ts);

-- Visitors that one report named together, in both directions: they are one browser, and one person for attribution.
CREATE TABLE joined_visitors (
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  visitor_id       uuid NOT NULL,
  other_visitor_id uuid NOT NULL,
  last_ts          bigint NOT NULL,        -- microseconds, exact to a day
  PRIMARY KEY (workspace_id, visitor_id, other_visitor_id)
);
CREATE INDEX joined_visitors_other ON joined_visitors (workspace_id, other_visitor_id);
CREATE INDEX joined_visitors_newest ON joined_visitors (workspace_id, visitor_id, last_ts DESC);

-- Identifies that may be the first of a person. Once the watermark has passed one, it is attributed as an order is, or
-- removed when an earlier identify is of the same person. A lead keeps its row, because later identifies of its person
-- are not leads.
CREATE TABLE leads (
  internal_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id       uuid NOT NULL REFERENCES workspaces (id),
  ts                 bigint NOT NULL,      -- microseconds
  stream_ordinal     smallint NOT NULL,
  visitor_id         uuid NOT NULL,
  other_visitor_ids  uuid[] NOT NULL DEFAULT '{}',
  email              text,
  external_user_id   text,
  attribution_model  text NOT NULL,        -- the workspace's when the identify was stored
  attribution_window integer NOT NULL,
  written_shares     jsonb NOT NULL DEFAULT '[]', -- as in orders
  claimed_until      timestamptz,                 -- as in orders
  attributed_at      timestamptz,
  UNIQUE (workspace_id, ts, stream_ordinal)
);
CREATE INDEX leads_waiting ON leads (ts) WHERE attributed_at IS NULL;
CREATE INDEX leads_visitor ON leads (workspace_id, visitor_id);
CREATE INDEX leads_email ON leads (workspace_id, email) WHERE email IS NOT NULL;
CREATE INDEX leads_user ON leads (workspace_id, external_user_id) WHERE external_user_id IS NOT NULL;
