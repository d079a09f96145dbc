-- Idempotency keys of requests that wait before their transaction, while no lock of theirs can be held. A reservation
-- goes with the answer, and ends by itself when its process died.
CREATE TABLE idempotency_reservations (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  holder       uuid NOT NULL, -- the request
  ends_at      timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, key)
);
