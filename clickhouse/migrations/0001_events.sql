-- Clicks, identifies and orders.
--
-- Every table with rows that are not sent again syncs its inserts and merges: PostgreSQL syncs the lane's offset behind
-- them, and the embedded server removes merged parts at once (old_parts_lifetime is 0).

-- One row per click. ts: microseconds unique within a stream, then the stream's ordinal in the last three digits, so
-- (workspace_id, ts) is a total order. The click's id derives from ts and is not stored. Unknown text is empty; an
-- empty domain is the deployment's own; region is ISO 3166-2, language a primary subtag, asn 0 when unknown. is_orphan:
-- a visit of a domain that led to no link. It is in no report unless a query names it; link_id has 16 bytes. import_id:
-- of a click that was imported (api/click-imports); zero: it was made here. Such a click has the ordinal 999, and its
-- `sequence` is a hash of the row of the file. extra_clicks: how many clicks beside itself the row stands for, where
-- the source has only counts.
CREATE TABLE IF NOT EXISTS {{database}}.clicks (
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
  domain       LowCardinality(String) CODEC(ZSTD(1)),
  slug         LowCardinality(String) CODEC(ZSTD(1)),
  trigger      Enum8('link' = 0, 'qr' = 1) DEFAULT 'link' CODEC(ZSTD(1)),
  utm_source   LowCardinality(String) CODEC(ZSTD(1)),
  utm_medium   LowCardinality(String) CODEC(ZSTD(1)),
  utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
  utm_term     LowCardinality(String) CODEC(ZSTD(1)),
  utm_content  LowCardinality(String) CODEC(ZSTD(1)),
  ad_network   LowCardinality(String) CODEC(ZSTD(1)),
  ad_click_param LowCardinality(String) CODEC(ZSTD(1)),
  ad_click_id  String CODEC(ZSTD(1)),
  referer_host LowCardinality(String) CODEC(ZSTD(1)),
  source       LowCardinality(String) CODEC(ZSTD(1)),
  source_kind  LowCardinality(String) CODEC(ZSTD(1)),
  continent    LowCardinality(String) CODEC(ZSTD(1)),
  region       LowCardinality(String) CODEC(ZSTD(1)),
  language     LowCardinality(String) CODEC(ZSTD(1)),
  rule_id      LowCardinality(String) CODEC(ZSTD(1)),
  variant_id   LowCardinality(String) CODEC(ZSTD(1)),
  asn          UInt32 CODEC(ZSTD(1)),
  import_id    UUID CODEC(ZSTD(1)),
  extra_clicks UInt32 CODEC(ZSTD(1)),
  is_orphan    Bool MATERIALIZED link_id = toUUID('00000000-0000-0000-0000-000000000000') CODEC(ZSTD(1)),
  imported     Bool MATERIALIZED import_id != toUUID('00000000-0000-0000-0000-000000000000') CODEC(ZSTD(1)),
  count        UInt32 ALIAS toUInt32(extra_clicks + 1),
  INDEX by_link link_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_visitor visitor_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (workspace_id, ts)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS {{database}}.identifies (
  workspace_id     UUID,
  visitor_id       UUID,
  ts               DateTime64(9, 'UTC'),
  email            String,
  external_user_id String,
  sequence         UInt64,
  -- Earlier ids of the same browser, reported together with visitor_id.
  other_visitor_ids Array(UUID),
  INDEX by_other_visitor other_visitor_ids TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (workspace_id, visitor_id, ts)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1;

-- One order counts once: the row of its highest version. A worker writes the order as it is in PostgreSQL, with the
-- version that it has there. Journeys find orders by visitor, email and user. An imported order whose import was undone
-- has no amount and no buyer.
CREATE TABLE IF NOT EXISTS {{database}}.orders (
  workspace_id     UUID,
  order_id         String,
  version          UInt64,
  ts               DateTime64(9, 'UTC'),
  visitor_id       UUID,
  email            String,
  external_user_id String,
  amount_minor     Int64,
  currency         LowCardinality(String),
  other_visitor_ids Array(UUID),
  imported         Bool,
  INDEX by_visitor visitor_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_other_visitor other_visitor_ids TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_email email TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_user external_user_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, order_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1;

-- Links whose history must leave every response at once; their clicks are rewritten within a day.
CREATE TABLE IF NOT EXISTS {{database}}.deleted_links (
  workspace_id UUID,
  link_id      UUID
)
ENGINE = ReplacingMergeTree
ORDER BY (workspace_id, link_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- Counted clicks that an erasure has removed from `clicks`, or that a worker left out because they were erased: only
-- when and which number in its stream, nothing of whose they were. Written before the clicks go, so that the comparison
-- with the log (workers/counts) knows them. It compares two weeks.
CREATE TABLE IF NOT EXISTS {{database}}.removed_clicks (
  ts       DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  sequence UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (ts, sequence)
TTL toDateTime(ts) + INTERVAL 16 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
