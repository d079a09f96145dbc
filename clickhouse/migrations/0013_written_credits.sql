-- When the store took a row of credits: a report tells by it whether what was merged of a day (0014) still holds. Rows from before
-- get a time before anything was merged, and 0014 gives the others their own; a file of its own, because this may be run again only
-- as long as the default is a constant.
ALTER TABLE {{database}}.order_credits_by_time {{on_cluster}}
  ADD COLUMN IF NOT EXISTS written DateTime DEFAULT toDateTime(1) CODEC(Delta, ZSTD(1));

ALTER TABLE {{database}}.order_credits_by_time {{on_cluster}} MATERIALIZE COLUMN written SETTINGS mutations_sync = 2;
