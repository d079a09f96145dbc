import type { ClickHouseClient } from '../clickhouse/client.ts';
import { PROGRESS_HEADERS } from '../clickhouse/queries/run-query.ts';

/**
 * Generates clicks of a busy deployment inside ClickHouse from `numbers(N)`, ten million rows in seconds. One workspace
 * has half of the clicks, one a tenth, one a hundredth, and two hundred share the rest. Links follow Zipf's law,
 * visitors return (2.5 clicks on average), and 8 % are bots. The same arguments generate the same rows.
 */

export type GenerateOptions = {
  /** Table with the columns of `clicks`, with its database. */
  table: string;
  rows: number;
  /** Days over which the clicks are spread evenly, up to `until`. */
  days: number;
  /** Time after the newest click, UTC, such as `2026-11-21` or `2026-11-21 14:30:00`. */
  until: string;
  /** Number of the first row; determines the rows. Default: 0. */
  first?: number;
  /** Rows of the whole table, which determine the number of visitors. Default: `rows`. */
  population?: number;
};

/** Workspaces by their share of clicks; all others share the rest. */
export const WORKSPACES = {
  half: workspace(0),
  tenth: workspace(1),
  hundredth: workspace(2),
  small: workspace(3),
} as const;

function workspace(index: number): string {
  return `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;
}

const CHANNELS = [
  ...['facebook', 'instagram', 'youtube', 'linkedin', 'twitter', 'tiktok', 'newsletter', 'website', 'other'],
  ...['threads', 'bluesky', 'mastodon', 'pinterest', 'reddit', 'telegram', 'discord', 'bio', 'referral'],
];

const REFERERS = [
  'https://l.instagram.com/',
  'https://www.facebook.com/',
  'https://t.co/',
  'https://news.ycombinator.com/item?id=',
  'https://www.google.com/',
];

/** Inserts the rows. */
export async function generateClicks(client: ClickHouseClient, options: GenerateOptions): Promise<void> {
  const { table, rows, days, until, first = 0, population = rows } = options;
  const spanMicros = Math.round(days * 86_400_000_000);
  // Invariant: larger than the jitter below, so that ts is unique.
  const stepMicros = Math.floor(spanMicros / rows);
  if (stepMicros < 1_000) throw new RangeError(`${rows} rows do not fit into ${days} days`);
  const columns = [
    'workspace_id, ts, link_id, visitor_id, channel, country, city, device, browser, os, referer, is_bot',
    'sequence, slug, trigger, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referer_host',
    'continent, region, language, asn',
  ].join(', ');
  await client.command({
    query: `INSERT INTO ${table} (${columns})
      WITH
        cityHash64(number, 1) / 18446744073709551616. AS share,
        cityHash64(number, 2) / 18446744073709551616. AS fame,
        cityHash64(number, 3) / 18446744073709551616. AS keenness,
        cityHash64(number, 4) AS h,
        multiIf(share < 0.5, 0, share < 0.6, 1, share < 0.61, 2, 3 + h % 200) AS w,
        multiIf(w = 0, 10000, w = 1, 2000, 200) AS links,
        toUInt64(floor(exp(fame * log(links)))) AS l,
        ceil({population:UInt64} * multiIf(w = 0, 0.5, w = 1, 0.1, w = 2, 0.01, 0.39 / 200) / 2.5) AS visitors,
        toUInt64(floor(visitors * pow(keenness, 1.5))) AS v,
        exp(intDiv(h, 65536) % 65536 / 65536. * log(20000)) AS place
      SELECT
        ${uuid('toUInt64(0x8000000000000000) + w', '0x7000')} AS workspace_id,
        fromUnixTimestamp64Nano(toInt64((toUnixTimestamp({until:DateTime('UTC')}) * 1000000
          - {span:UInt64} + (number - {first:UInt64}) * {step:UInt64} + h % 1000) * 1000 + 1), 'UTC') AS ts,
        ${uuid('sipHash64(w, l, 7)', 'sipHash64(w, l, 8)')} AS link_id,
        ${uuid('sipHash64(w, v, 9)', 'sipHash64(w, v, 10)')} AS visitor_id,
        {channels:Array(String)}[1 + l % length({channels:Array(String)})] AS channel,
        ['US', 'DE', 'FR', 'GB', 'IN', 'BR', 'JP', 'CA', 'ES', 'IT', ''][1 + intDiv(h, 256) % 11] AS country,
        concat('City ', toString(floor(place))) AS city,
        ['mobile', 'desktop', 'tablet'][1 + intDiv(h, 4096) % 3] AS device,
        ['Chrome', 'Safari', 'Firefox', 'Edge', 'Instagram', 'Facebook'][1 + intDiv(h, 8192) % 6] AS browser,
        ['iOS', 'Android', 'Windows', 'macOS', 'Linux'][1 + intDiv(h, 16384) % 5] AS os,
        if(intDiv(h, 32768) % 3 = 0, '', concat({referers:Array(String)}[1 + l % 5],
          if(intDiv(h, 131072) % 4 = 0, hex(h), ''))) AS referer,
        intDiv(h, 524288) % 100 < 8 AS is_bot,
        number AS sequence,
        concat('s', lower(hex(sipHash64(w, l, 11)))) AS slug,
        if(intDiv(h, 1048576) % 20 = 0, 'qr', 'link') AS trigger,
        channel AS utm_source,
        ['social', 'email', 'cpc'][1 + l % 3] AS utm_medium,
        concat('campaign-', toString(l % 50)) AS utm_campaign,
        if(l % 10 = 0, concat('term-', toString(l % 7)), '') AS utm_term,
        if(l % 5 = 0, concat('content-', toString(l % 3)), '') AS utm_content,
        domain(referer) AS referer_host,
        ['NA', 'EU', 'EU', 'EU', 'AS', 'SA', 'AS', 'NA', 'EU', 'EU', ''][1 + intDiv(h, 256) % 11] AS continent,
        if(country = '', '', concat(country, '-', toString(toUInt32(place) % 16))) AS region,
        ['en', 'de', 'fr', 'en', 'hi', 'pt', 'ja', 'en', 'es', 'it', ''][1 + intDiv(h, 256) % 11] AS language,
        toUInt32(1000 + toUInt32(place) % 4000) AS asn
      FROM numbers({first:UInt64}, {rows:UInt64})`,
    query_params: {
      rows,
      first,
      population,
      span: spanMicros,
      step: stepMicros,
      until: until.length === 10 ? `${until} 00:00:00` : until,
      channels: CHANNELS,
      referers: REFERERS,
    },
    clickhouse_settings: {
      ...PROGRESS_HEADERS,
      max_insert_block_size: '1000000',
      max_execution_time: 600,
      wait_end_of_query: 1,
    },
  });
}

/** Returns SQL for a UUID from two UInt64 expressions. */
function uuid(low: string, high: string): string {
  return `reinterpret(bitOr(bitShiftLeft(toUInt128(${low}), 64), toUInt128(${high})), 'UUID')`;
}
