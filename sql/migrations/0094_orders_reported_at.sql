-- When an order was reported past the event log, in microseconds: its own time may be long ago, and who its buyer is may have been
-- said just before. Null: it came through the event log, or before this column.
ALTER TABLE orders ADD COLUMN reported_at bigint;
