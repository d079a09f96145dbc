-- The cache of results: parts of reports that were requested again (clickhouse/reports/cached-parts.ts). A lost row is
-- computed again, so inserts are not synced, and rows end after a day.
--
-- part: 'channels/…' and 'links/…', named by the generations of the rolled-up periods, with clicks and visitors by
-- channel or by link; 'keys/…', named by them and by keys and conditions, with clicks and visitors by keys, and in all
-- (a row without keys); 'shares/link' and 'shares/origin', with the sums of all days of the workspace by channel;
-- 'shares/…', by keys. Of shares the rows with the latest `made` count.
CREATE TABLE IF NOT EXISTS {{database}}.cached_report_parts (
  workspace_id UUID,
  part         String,
  made         DateTime64(6, 'UTC') DEFAULT now64(6),
  day          Date32,
  link_id      UUID,
  channel      LowCardinality(String),
  keys         Array(String),
  clicks       UInt64,
  visitors     AggregateFunction(uniqCombined64(17), UUID),
  share        Float64,
  lead         Float64,
  amount_minor Int64
)
ENGINE = ReplacingMergeTree(made)
ORDER BY (workspace_id, part, day, link_id, channel, keys)
TTL toDateTime(made) + INTERVAL 1 DAY
SETTINGS index_granularity = 64;
