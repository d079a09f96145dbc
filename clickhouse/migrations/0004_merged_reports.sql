-- Results of reports that were requested again. A row too few is computed again, so these are not synced, and end after a day.

-- The periods of a window by channel: one row a channel instead of one a link, channel and day. `cover` names the periods'
-- generations, so a row never becomes wrong; it is only no longer asked for.
CREATE TABLE IF NOT EXISTS {{database}}.merged_roll_ups {{on_cluster}} (
  workspace_id UUID,
  cover        String,
  channel      LowCardinality(String),
  clicks       UInt64,
  visitors     AggregateFunction(uniqCombined64(17), UUID),
  made         DateTime DEFAULT now()
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (workspace_id, cover, channel)
TTL made + INTERVAL 1 DAY;

-- As merged_roll_ups, by link, of the links that a report showed.
CREATE TABLE IF NOT EXISTS {{database}}.merged_link_roll_ups {{on_cluster}} (
  workspace_id UUID,
  cover        String,
  link_id      UUID,
  clicks       UInt64,
  visitors     AggregateFunction(uniqCombined64(17), UUID),
  made         DateTime DEFAULT now()
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (workspace_id, cover, link_id)
TTL made + INTERVAL 1 DAY
SETTINGS index_granularity = 64;

-- As merged_roll_ups, by link and without visitors: it tells which links a report shows.
CREATE TABLE IF NOT EXISTS {{database}}.merged_link_clicks {{on_cluster}} (
  workspace_id UUID,
  cover        String,
  link_id      UUID,
  clicks       UInt64,
  made         DateTime DEFAULT now()
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (workspace_id, cover, link_id)
TTL made + INTERVAL 1 DAY;

-- Attributed shares by day and channel; all days of a workspace at once, under an id that the process knows which wrote them. A
-- day counts while none of its shares was written since `made` less an hour: an insert that had begun by then has ended.
-- `of`: the channel is the credited link's, or the one that the person first came from.
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
