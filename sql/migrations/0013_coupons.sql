-- Discount codes of referrers. An order with such a code belongs to its referrer, without a click or a signup.

-- A deleted coupon keeps its row: its orders, and their renewals, stay its owner's.
CREATE TABLE coupons (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  enrollment_id uuid NOT NULL REFERENCES enrollments (id),
  code          text NOT NULL CHECK (length(code) BETWEEN 1 AND 200), -- as the merchant writes it
  code_key      text NOT NULL, -- as codes are compared: without regard to case
  created_at    timestamptz NOT NULL,
  deleted_at    timestamptz
);
CREATE UNIQUE INDEX coupons_code ON coupons (workspace_id, code_key) WHERE deleted_at IS NULL;
CREATE INDEX coupons_workspace ON coupons (workspace_id, id DESC);
CREATE INDEX coupons_enrollment ON coupons (enrollment_id);

-- Codes that the service makes at a connected provider, for coupons.
CREATE TABLE promotion_codes (
  id              uuid PRIMARY KEY, -- the provider's objects are named after it
  coupon_id       uuid NOT NULL UNIQUE REFERENCES coupons (id),
  workspace_id    uuid NOT NULL REFERENCES workspaces (id),
  connection_id   uuid NOT NULL REFERENCES connections (id),
  discount        jsonb NOT NULL,   -- its terms; see `Discount` in core/connections/promotion-codes.ts
  -- `ending`: the coupon is deleted, and a worker must end its code at the provider.
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'active', 'failed', 'ending', 'ended')),
  reference       text,             -- the provider's id of the code
  attempts        integer NOT NULL DEFAULT 0,
  refusals        integer NOT NULL DEFAULT 0, -- attempts whose response was an error
  error           text,             -- of the last attempt
  next_attempt_at timestamptz,
  attempt_ends_at timestamptz,      -- while an attempt is under way: when it counts as lost
  CHECK ((status IN ('pending', 'ending')) = (next_attempt_at IS NOT NULL))
);
CREATE INDEX promotion_codes_due ON promotion_codes (connection_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

ALTER TABLE purchases ADD FOREIGN KEY (coupon_id) REFERENCES coupons (id);
CREATE INDEX purchases_coupon ON purchases (coupon_id) WHERE coupon_id IS NOT NULL;
-- The buyer of a coupon's order may be known by email alone.
CREATE INDEX orders_server_email ON orders (workspace_id, email) WHERE source = 'server' AND email IS NOT NULL;
