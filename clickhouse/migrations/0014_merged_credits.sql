ALTER TABLE {{database}}.order_credits_by_time {{on_cluster}} MODIFY COLUMN written DateTime DEFAULT now() CODEC(Delta, ZSTD(1));

ALTER TABLE {{database}}.order_credits_by_time {{on_cluster}} ADD INDEX IF NOT EXISTS by_written written TYPE minmax GRANULARITY 1;

ALTER TABLE {{database}}.order_credits_by_time {{on_cluster}} MATERIALIZE INDEX by_written;

-- The credits that count, put together by day and channel, of workspaces whose reports were asked for again: all days of a
-- workspace at once, under an id that the process knows which did it. A day counts from here while none of its credits was written
-- since made, and an hour before: an insert that had begun then has come to its end. of: the channel is the credited link's, or where
-- the person first came from.
CREATE TABLE IF NOT EXISTS {{database}}.merged_credits {{on_cluster}} (
  workspace_id UUID,
  id           UUID,
  made         DateTime,
  of           Enum8('link' = 1, 'origin' = 2),
  day          Date32,
  channel      LowCardinality(String),
  share        Float64,
  amount_minor Int64
)
ENGINE = {{engine:MergeTree}}
ORDER BY (workspace_id, id, of, day)
TTL made + INTERVAL 1 DAY;
