-- The clocks of the release before wait from here on: they know nothing of pixel_visitor_id, and would credit orders that have
-- one to nobody and bring them to ClickHouse without it. Its lanes and its API go on.
ALTER TABLE orders RENAME COLUMN attributed_version TO credited_version;
