-- As merged_roll_ups, by link, of the links that a report showed: a row a link instead of one a link, channel and day. In
-- the roll-ups these few stand among all the others, and a state of visitors is read with the thousands around it.
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
