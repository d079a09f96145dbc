-- How many clicks each workspace has in a rolled-up period: whether a report counts visitors one by one is known from few
-- rows then. Of equal rows one counts (a second run of this file, a pass that was cut off).
CREATE TABLE IF NOT EXISTS {{database}}.rolled_up_workspaces {{on_cluster}} (
  workspace_id UUID,
  generation   UInt64,
  clicks       UInt64
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (workspace_id, generation);

INSERT INTO {{database}}.rolled_up_workspaces
SELECT workspace_id, generation, sum(clicks) FROM {{database}}.clicks_rolled_up GROUP BY workspace_id, generation;

-- The periods inside a window that was asked for again, put together by channel, so that the next report of it reads a row
-- a channel instead of one a link, channel and day. cover names the periods' generations, so what stands here for a
-- cover is true for good; it is only no longer asked for.
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
