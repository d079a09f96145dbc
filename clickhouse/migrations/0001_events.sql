-- A click is one row. ts: microseconds unique within a stream, then the stream's ordinal in the last three
-- digits, so (workspace_id, ts) is a total order. The click's id derives from ts and is not stored.
CREATE TABLE IF NOT EXISTS {{database}}.clicks {{on_cluster}} (
  workspace_id UUID,
  ts           DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  link_id      UUID CODEC(ZSTD(1)),
  visitor_id   UUID CODEC(NONE),
  channel      LowCardinality(String),
  country      LowCardinality(String),
  city         LowCardinality(String),
  device       LowCardinality(String),
  browser      LowCardinality(String),
  os           LowCardinality(String),
  referer      String CODEC(ZSTD(1)),
  is_bot       Bool,
  sequence     UInt64 CODEC(Delta, ZSTD(1)),
  INDEX by_link link_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_visitor visitor_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine:MergeTree}}
PARTITION BY toYYYYMM(ts)
ORDER BY (workspace_id, ts)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS {{database}}.identifies {{on_cluster}} (
  workspace_id     UUID,
  visitor_id       UUID,
  ts               DateTime64(9, 'UTC'),
  email            String,
  external_user_id String,
  sequence         UInt64
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (workspace_id, visitor_id, ts)
SETTINGS non_replicated_deduplication_window = 10000;

-- Of several reports of one order the highest version stays: a server's before the pixel's, then the earliest.
CREATE TABLE IF NOT EXISTS {{database}}.orders {{on_cluster}} (
  workspace_id     UUID,
  order_id         String,
  version          UInt64,
  ts               DateTime64(9, 'UTC'),
  visitor_id       UUID,
  email            String,
  external_user_id String,
  amount_minor     Int64,
  currency         LowCardinality(String),
  sequence         UInt64,
  INDEX by_visitor visitor_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY (workspace_id, order_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- What an order is worth to the links whose clicks led to it; written once the watermark has passed the order.
-- The rows of the highest version count. part numbers the rows of one version; shares of a version add up to 1,
-- minor units (in the workspace's currency) to the order's amount. first_channel: where the person's
-- first click came from, for ltv: on part 0 at first, since 0003 on every part.
CREATE TABLE IF NOT EXISTS {{database}}.order_credits {{on_cluster}} (
  workspace_id  UUID,
  order_id      String,
  version       UInt64,
  part          UInt16,
  ts            DateTime64(9, 'UTC'),
  link_id       UUID,
  channel       LowCardinality(String),
  share         Float64,
  amount_minor  Int64,
  first_channel LowCardinality(String)
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY (workspace_id, order_id, part)
SETTINGS non_replicated_deduplication_window = 10000;

-- Links whose history must leave every answer at once; the store itself is rewritten within a day.
CREATE TABLE IF NOT EXISTS {{database}}.deleted_links {{on_cluster}} (
  workspace_id UUID,
  link_id      UUID
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (workspace_id, link_id);
