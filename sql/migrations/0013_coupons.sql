-- Discount codes of referrers. An order that was paid with one belongs to its referrer, without a click or a signup.

-- A deleted coupon keeps its row: the orders that it brought, and their renewals, stay its owner's.
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

ALTER TABLE purchases ADD FOREIGN KEY (coupon_id) REFERENCES coupons (id);
CREATE INDEX purchases_coupon ON purchases (coupon_id) WHERE coupon_id IS NOT NULL;
-- The buyer of a coupon's order may be known by email alone.
CREATE INDEX orders_server_email ON orders (workspace_id, email) WHERE source = 'server' AND email IS NOT NULL;
