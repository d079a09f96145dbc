-- When the visitors of a workspace clicked, to the second, bots' clicks too: the pass that rolls up a day writes its rows, so
-- the clicks of a visitor are found by their key in the table of clicks (rollups/clicks-by-visitor.ts). visitor: 32 bits of
-- a hash of the visitor's id; a row too many is looked for in vain, so rows of other visitors, of erased clicks and of
-- generations that no longer stand do no harm. at: in the clicks' own time zone, so that it is their key rounded down.
-- Granules are a quarter of the usual ones: attribution asks for a few rows of each of hundreds of visitors.
CREATE TABLE IF NOT EXISTS {{database}}.clicks_by_visitor {{on_cluster}} (
  workspace_id UUID CODEC(ZSTD(1)),
  visitor      UInt32 CODEC(Delta, ZSTD(1)),
  at           DateTime('UTC') CODEC(ZSTD(1)),
  generation   UInt64 CODEC(ZSTD(1))
)
ENGINE = {{engine:MergeTree}}
PARTITION BY toYear(at)
ORDER BY (workspace_id, visitor, at)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- How many rows a day has there: its clicks, with bots. 0 where it was made before this file, and it is made again then.
ALTER TABLE {{database}}.rolled_up_periods {{on_cluster}} ADD COLUMN IF NOT EXISTS by_visitor UInt64 DEFAULT 0;
