-- What the last attempt of a delivery sent beside the body: `{ "url", "headers" }`. Null: nothing was sent yet, or
-- before this column was there.
ALTER TABLE webhook_deliveries ADD COLUMN request jsonb;
