-- Clicks and visitors of a day or a month by workspace, link and channel, without bots: a job makes them of days
-- that the watermark has passed. Rows count while their generation stands in rolled_up_periods; a period that has to
-- be made again gets a new generation, so readers see the old rows or the new ones, never both and never neither.
CREATE TABLE IF NOT EXISTS {{database}}.clicks_rolled_up {{on_cluster}} (
  workspace_id UUID,
  generation   UInt64,
  start        Date,
  link_id      UUID,
  channel      LowCardinality(String),
  clicks       UInt64,
  visitors     AggregateFunction(uniqCombined64(17), UUID)
)
ENGINE = {{engine:MergeTree}}
PARTITION BY toYYYYMM(start)
ORDER BY (workspace_id, generation, link_id, channel);

-- Of the rows of one period the highest generation stands. clicks: of all workspaces; when the table of clicks has
-- another number, the period is made again.
CREATE TABLE IF NOT EXISTS {{database}}.rolled_up_periods {{on_cluster}} (
  period     Enum8('day' = 1, 'month' = 2),
  start      Date,
  generation UInt64,
  clicks     UInt64
)
ENGINE = {{engine:ReplacingMergeTree(generation)}}
ORDER BY (period, start);

-- An order that came without a visitor is found by its email: in journeys.
ALTER TABLE {{database}}.orders {{on_cluster}} ADD INDEX IF NOT EXISTS by_email email TYPE bloom_filter(0.01) GRANULARITY 1;
