-- Whom the buyer of an order reported past the event log signed up as. In visitor_id it looked as if the report had named that
-- visitor, so that the one whom the pixel names counted when it came first and not when it came later.
ALTER TABLE orders ADD COLUMN signup_visitor_id uuid;
