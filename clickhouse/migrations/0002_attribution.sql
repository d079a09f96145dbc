-- The shares of an order that its attribution gives to links, sorted by the order's time: a report reads the shares of
-- its window. Written once the watermark has passed the order.
--
-- `part` numbers the rows of one version; the shares of a version add up to 1, its minor units (of the workspace's
-- currency) to the order's amount. The version determines ts, so its rows are found by their key. `replaced`: another
-- version of the order counts instead; such a row has the key of the row that it replaces, and may come before it.
-- `first_channel` is the channel of the person's first click, for ltv. The history of bio buttons can be deleted:
-- `first_bio_links` are the buttons that the person clicked before any other link, `first_other_channel` is the channel
-- of the first click on another link. All three are on every part.
-- `country` and the columns after it are those of the credited clicks. `lead`: the share of a lead, whose `share` and
-- minor units are 0; a lead's `order_id` is its number.
-- `written`: tells a report whether the cached sums of a day are still current.
CREATE TABLE IF NOT EXISTS {{database}}.attributed_shares (
  workspace_id        UUID,
  ts                  DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  order_id            String,
  version             UInt64,
  part                UInt16,
  link_id             UUID,
  channel             LowCardinality(String),
  country             LowCardinality(String),
  city                LowCardinality(String),
  device              LowCardinality(String),
  browser             LowCardinality(String),
  os                  LowCardinality(String),
  domain              LowCardinality(String),
  slug                LowCardinality(String),
  trigger             Enum8('link' = 0, 'qr' = 1) DEFAULT 'link',
  utm_source          LowCardinality(String),
  utm_medium          LowCardinality(String),
  utm_campaign        LowCardinality(String),
  utm_term            LowCardinality(String),
  utm_content         LowCardinality(String),
  ad_network          LowCardinality(String),
  referer_host        LowCardinality(String),
  source              LowCardinality(String),
  source_kind         LowCardinality(String),
  continent           LowCardinality(String),
  region              LowCardinality(String),
  language            LowCardinality(String),
  rule_id             LowCardinality(String),
  variant_id          LowCardinality(String),
  asn                 UInt32,
  share               Float64,
  lead                Float64,
  amount_minor        Int64,
  first_channel       LowCardinality(String),
  first_bio_links     Array(UUID),
  first_other_channel LowCardinality(String),
  replaced            Bool,
  written             DateTime DEFAULT now() CODEC(Delta, ZSTD(1)),
  INDEX by_written written TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(replaced)
ORDER BY (workspace_id, ts, order_id, version, part)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1;
