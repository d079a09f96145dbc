-- Roll-ups of closed days and months. A job writes them for days that the watermark has passed; reports read them for
-- the whole days of a window, and single clicks for its edges.

-- Clicks and visitors of a day or a month by workspace, link and channel, without bots and visits of no link. Rows
-- count while their generation is in rolled_up_periods: a period that is rebuilt gets a new generation, so a reader
-- sees the old rows or the new ones.
CREATE TABLE IF NOT EXISTS {{database}}.clicks_rolled_up (
  workspace_id UUID,
  generation   UInt64,
  start        Date,
  link_id      UUID,
  channel      LowCardinality(String),
  clicks       UInt64,
  visitors     AggregateFunction(uniqCombined64(17), UUID)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(start)
ORDER BY (workspace_id, generation, link_id, channel)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- Of the rows of one period the highest generation counts. `clicks` (of all workspaces) and `fingerprint` say which
-- clicks it was built from: when the table of clicks has others, the period is rebuilt. `by_visitor`: its rows in
-- clicks_by_visitor.
CREATE TABLE IF NOT EXISTS {{database}}.rolled_up_periods (
  period      Enum8('day' = 1, 'month' = 2),
  start       Date,
  generation  UInt64,
  clicks      UInt64,
  by_visitor  UInt64,
  fingerprint UInt64
)
ENGINE = ReplacingMergeTree(generation)
ORDER BY (period, start)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- The clicks and visitors of each workspace in a period: whether a report counts visitors exactly is known from few
-- rows, and a series by day or month merges one state of each period and not one of each link. A state takes up to 98
-- kB, so granules are small: a series reads those of its periods alone.
CREATE TABLE IF NOT EXISTS {{database}}.rolled_up_workspaces (
  workspace_id UUID,
  generation   UInt64,
  start        Date,
  clicks       UInt64,
  visitors     AggregateFunction(uniqCombined64(17), UUID)
)
ENGINE = ReplacingMergeTree
ORDER BY (workspace_id, generation)
SETTINGS index_granularity = 32, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- When the visitors of a workspace clicked, to the second, bots included: with it the clicks of a visitor are found by
-- their key. `visitor`: 32 bits of a hash of the visitor's id; a row too many only costs a lookup, so rows of other
-- visitors, of erased clicks and of old generations are harmless. `at` is in the clicks' time zone, so that it is their
-- key rounded down. Granules are small: attribution reads a few rows of each of hundreds of visitors.
CREATE TABLE IF NOT EXISTS {{database}}.clicks_by_visitor (
  workspace_id UUID CODEC(ZSTD(1)),
  visitor      UInt32 CODEC(Delta, ZSTD(1)),
  at           DateTime('UTC') CODEC(ZSTD(1)),
  generation   UInt64 CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYear(at)
ORDER BY (workspace_id, visitor, at)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
