-- Refunds of orders that nobody has reported yet.
CREATE TABLE early_refunds (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  refund_id    text NOT NULL,
  order_id     text NOT NULL,
  amount       float8,               -- major units, of a currency that the order will tell; null: all of it
  reported_at  timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, refund_id)
);
CREATE INDEX early_refunds_order ON early_refunds (workspace_id, order_id);
CREATE INDEX early_refunds_age ON early_refunds (reported_at);
