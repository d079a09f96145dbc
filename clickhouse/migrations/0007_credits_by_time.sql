-- What an order is worth to the links whose clicks led to it, sorted by the order's time, so that a report reads the credits
-- of its window. order_credits was sorted by order: FINAL read all that a workspace ever had, for every report. version tells
-- ts, so a version's rows are found by their key. replaced: another version of the order counts instead; such a row has the
-- key of the one that it replaces and may come before it.
CREATE TABLE IF NOT EXISTS {{database}}.order_credits_by_time {{on_cluster}} (
  workspace_id  UUID,
  ts            DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  order_id      String,
  version       UInt64,
  part          UInt16,
  link_id       UUID,
  channel       LowCardinality(String),
  share         Float64,
  amount_minor  Int64,
  first_channel LowCardinality(String),
  replaced      Bool
)
ENGINE = {{engine:ReplacingMergeTree(replaced)}}
ORDER BY (workspace_id, ts, order_id, version, part)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1;

-- Workers of the release before wait from here on, instead of writing credits that nobody reads.
RENAME TABLE IF EXISTS {{database}}.order_credits TO {{database}}.order_credits_before_0007 {{on_cluster}};

INSERT INTO {{database}}.order_credits_by_time
SELECT workspace_id, ts, order_id, version, part, link_id, channel, share, amount_minor, first_channel, false
FROM {{database}}.order_credits_before_0007 FINAL
WHERE (workspace_id, order_id, version) IN (
  SELECT workspace_id, order_id, max(version) FROM {{database}}.order_credits_before_0007 GROUP BY workspace_id, order_id);
