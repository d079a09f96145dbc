-- Connected billing providers: their events as received, and the customers and payments in the events.

CREATE TABLE connections (
  id             uuid PRIMARY KEY,
  workspace_id   uuid NOT NULL REFERENCES workspaces (id),
  provider       text NOT NULL,     -- see core/connections/providers.ts
  signing_secret bytea,             -- sealed; null: not set yet, events are refused with 503
  restricted_key bytea,             -- sealed; null: the provider's API is not called
  settings       jsonb NOT NULL,
  last_event_at  timestamptz,
  refused_at     timestamptz,       -- when a call was last refused for its signature, to the minute
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  deleted_at     timestamptz
);
-- Creation times are cursors.
CREATE UNIQUE INDEX connections_listed ON connections (workspace_id, created_at) WHERE deleted_at IS NULL;

-- The facts of events about one payment. An event names a payment by the ids of the provider's objects (invoice,
-- payment, charge). An event with ids of two rows joins them. The purchase follows from `parts` alone, so that the
-- order of the events does not matter. Payments and customers belong to the workspace's account at the provider: they
-- outlive a deleted connection.
CREATE TABLE connection_payments (
  id                uuid PRIMARY KEY,
  workspace_id      uuid NOT NULL REFERENCES workspaces (id),
  provider          text NOT NULL,
  connection_id     uuid NOT NULL REFERENCES connections (id), -- whose event told of it last
  refs              text[] NOT NULL, -- an order id is the provider's name, a colon, and one of them
  customer_id       text,           -- the provider's
  account_id        text,           -- the provider's, where a customer has an account of its own there
  subscription_id   text,           -- the provider's
  parts             jsonb NOT NULL, -- by name; see core/connections/payment-parts.ts
  paid_at           timestamptz,    -- null: no event has the amount yet
  assigned_user     text,           -- the buyer that a merchant assigned
  order_internal_id bigint REFERENCES orders (internal_id), -- null: not recorded
  recorded          jsonb,          -- the facts that this payment wrote; null: none, or a report by hand was first
  status            text NOT NULL DEFAULT 'unmatched' CHECK (status IN ('recorded', 'ignored', 'unmatched', 'failed')),
  reason            text,
  names             text[],         -- what may name its buyer yet; see sql/connections/named-payments.ts; null: nothing
  due_at            timestamptz,    -- when a worker settles it without an event; null: never
  created_at        timestamptz NOT NULL
);
CREATE INDEX connection_payments_refs ON connection_payments USING gin (refs);
CREATE INDEX connection_payments_customer ON connection_payments (workspace_id, provider, customer_id)
  WHERE customer_id IS NOT NULL;
CREATE INDEX connection_payments_account ON connection_payments (workspace_id, provider, account_id)
  WHERE account_id IS NOT NULL;
CREATE INDEX connection_payments_subscription ON connection_payments (workspace_id, provider, subscription_id)
  WHERE subscription_id IS NOT NULL;
CREATE INDEX connection_payments_due ON connection_payments (due_at) WHERE due_at IS NOT NULL;
-- Payments without a buyer. A later signup, report, or identify may name the buyer.
CREATE INDEX connection_payments_named ON connection_payments (created_at, id) WHERE names IS NOT NULL;
CREATE INDEX connection_payments_order ON connection_payments (order_internal_id) WHERE order_internal_id IS NOT NULL;

-- Events as the provider sent them, kept 30 days.
CREATE TABLE connection_events (
  internal_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  connection_id uuid NOT NULL REFERENCES connections (id),
  id            uuid NOT NULL UNIQUE,
  event_id      text NOT NULL,      -- the provider's
  type          text NOT NULL,
  customer_key  text NOT NULL,      -- events of one key are processed in the order of their arrival
  body          text NOT NULL,      -- text, not jsonb: numbers beyond 2^53 stay exact
  status        text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'recorded', 'ignored', 'unmatched', 'failed')),
  reason        text,
  payment_id    uuid REFERENCES connection_payments (id),
  is_replay     boolean NOT NULL DEFAULT false,
  attempts      integer NOT NULL DEFAULT 0,
  due_at        timestamptz NOT NULL,
  received_at   timestamptz NOT NULL,
  UNIQUE (connection_id, event_id)
);
CREATE INDEX connection_events_listed ON connection_events (connection_id, internal_id DESC);
CREATE INDEX connection_events_unfinished ON connection_events (connection_id, status, internal_id DESC)
  WHERE status IN ('unmatched', 'failed');
CREATE INDEX connection_events_due ON connection_events (internal_id) WHERE status = 'pending';
CREATE INDEX connection_events_pending ON connection_events (connection_id, customer_key, internal_id)
  WHERE status = 'pending';
CREATE INDEX connection_events_payment ON connection_events (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX connection_events_age ON connection_events (received_at);

-- The user behind a payer at the provider: `customer:`, `account:` or `subscription:` with the provider's id. A payment
-- goes by the newest tie before it, else by the first one after it.
CREATE TABLE connection_ties (
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  provider         text NOT NULL,
  payer            text NOT NULL,
  event_id         text NOT NULL,        -- the provider's; `import`, or `assign:` with an event's id
  connection_id    uuid REFERENCES connections (id), -- that told it; null: an import
  buyer            jsonb NOT NULL,       -- its names; see `Buyer` in core/connections/connector.ts
  tied_at          timestamptz NOT NULL, -- the event's own time
  PRIMARY KEY (workspace_id, provider, payer, event_id)
);
-- Fulfilment looks for the customer of a user.
CREATE INDEX connection_ties_user
  ON connection_ties (workspace_id, (coalesce(buyer ->> 'externalUserId', buyer ->> 'reference')));

-- Emails of customers, where the provider's payments do not have them.
CREATE TABLE connection_customers (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  provider     text NOT NULL,
  customer_id  text NOT NULL,        -- or the id of its account
  email        text NOT NULL,
  told_at      timestamptz NOT NULL, -- the event's own time
  is_change    boolean NOT NULL,     -- the email replaced another one
  PRIMARY KEY (workspace_id, provider, customer_id)
);

-- Texts of the provider's discount codes, by their ids.
CREATE TABLE connection_codes (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  provider     text NOT NULL,
  code_id      text NOT NULL,
  code         text NOT NULL,
  PRIMARY KEY (workspace_id, provider, code_id)
);
