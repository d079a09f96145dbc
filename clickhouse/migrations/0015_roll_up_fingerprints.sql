-- Which clicks a period was made of: their number alone is the same when as many come late as are erased. 0 where it was made before
-- this file.
ALTER TABLE {{database}}.rolled_up_periods {{on_cluster}} ADD COLUMN IF NOT EXISTS fingerprint UInt64 DEFAULT 0;
