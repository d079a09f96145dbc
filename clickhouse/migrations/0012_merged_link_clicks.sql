-- As merged_roll_ups, by link and without visitors: which links a report shows is known from a row a link instead of one a link,
-- channel and day.
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
