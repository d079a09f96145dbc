-- Whom the pixel's report of an order named, where a server's report counts and names nobody.
ALTER TABLE orders ADD COLUMN pixel_visitor_id uuid;
