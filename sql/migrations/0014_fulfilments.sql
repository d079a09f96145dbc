-- Fulfilments: how the service itself delivers the earned credits of a program, and the state of each delivery.

CREATE TABLE fulfilments (
  id             uuid PRIMARY KEY,
  workspace_id   uuid NOT NULL REFERENCES workspaces (id),
  program_id     uuid NOT NULL REFERENCES programs (id),
  provider       text NOT NULL CHECK (provider IN ('stripe_balance', 'webhook')),
  url            text,    -- webhook
  secret         bytea,   -- webhook: signs its calls
  restricted_key bytea,   -- stripe_balance, sealed; null: that of the workspace's Stripe connection
  currency       text,    -- stripe_balance
  credit_value   numeric, -- stripe_balance: major units of the currency for one credit
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  deleted_at     timestamptz,
  CHECK ((provider = 'webhook') = (url IS NOT NULL AND secret IS NOT NULL)),
  CHECK ((provider = 'stripe_balance') = (currency IS NOT NULL AND credit_value > 0)),
  CHECK (provider = 'stripe_balance' OR restricted_key IS NULL)
);
-- Two fulfilments of a program would deliver a credit twice.
CREATE UNIQUE INDEX fulfilments_of_program ON fulfilments (program_id) WHERE deleted_at IS NULL;
-- Creation times are cursors.
CREATE UNIQUE INDEX fulfilments_listed ON fulfilments (workspace_id, created_at) WHERE deleted_at IS NULL;

-- One row for each grant that a fulfilment delivers, written in the transaction that earns it. A grant has one delivery
-- forever: a later fulfilment takes the row over.
CREATE TABLE grant_deliveries (
  id              uuid PRIMARY KEY, -- the `webhook-id`, and the body's `id`
  grant_id        bigint NOT NULL UNIQUE REFERENCES grants (id),
  workspace_id    uuid NOT NULL,
  fulfilment_id   uuid NOT NULL REFERENCES fulfilments (id),
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'canceled')),
  attempts        integer NOT NULL DEFAULT 0,
  -- When the first attempt began that may have delivered the grant. Null: no known attempt may have.
  uncertain_since timestamptz,
  refusals        integer NOT NULL DEFAULT 0, -- attempts that Stripe refused; see `workers/fulfilments/stripe.ts`
  customer        text,                       -- Stripe: of the uncertain attempts, or of the delivery
  reference       text,                       -- Stripe: the balance transaction
  response_status integer,
  response_body   text,
  error           text,
  next_attempt_at timestamptz,
  attempt_ends_at timestamptz,                -- while an attempt is under way: when it counts as lost
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
  CHECK ((status = 'delivered') = (delivered_at IS NOT NULL))
);
CREATE INDEX grant_deliveries_listed ON grant_deliveries (fulfilment_id, grant_id DESC);
CREATE INDEX grant_deliveries_failing ON grant_deliveries (fulfilment_id, created_at)
  WHERE status IN ('pending', 'failed') AND error IS NOT NULL;
CREATE INDEX grant_deliveries_due ON grant_deliveries (fulfilment_id, next_attempt_at) WHERE status = 'pending';
