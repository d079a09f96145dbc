import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { type ClickRow, clickBlock } from '../clickhouse/inserts/clicks.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { TRIGGERS } from '../core/clicks/triggers.ts';
import type { Place } from '../core/enrich/geo.ts';
import { DIRECT } from '../core/enrich/sources.ts';
import type { StoredReferer } from '../core/enrich/stored-referer.ts';
import type { UserAgentProfile } from '../core/enrich/user-agents.ts';
import { NO_AD } from '../core/events/ad-clicks.ts';
import { type ClickLabels, NO_LABELS } from '../core/events/click-labels.ts';
import { clickKey, LINK_AT, VISITOR_AT, WORKSPACE_AT } from '../core/events/click-reader.ts';
import { bytesToUuid, uuidToBytes, uuidv7 } from '../core/ids.ts';

/**
 * Compares formats for inserting clicks: time to encode on one core, and time until ClickHouse has the block.
 *
 *   node bench/insert-formats.ts --url http://127.0.0.1:PORT [--rows 50000] [--rounds 7]
 *
 * The native encoder is the product's. Uses the database `hoplog_bench_formats` and drops it at the end. Prints
 * medians.
 */

const DATABASE = 'hoplog_bench_formats';
const COLUMNS = 28;

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    rows: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '7' },
  },
});
if (!values.url) throw new Error('`--url` is missing: must be the URL of a ClickHouse server');
const rowCount = Number(values.rows);
const rounds = Number(values.rounds);

const workspaces = [uuidv7(), uuidv7()].map(uuidToBytes);
const links = Array.from({ length: 1_000 }, () => uuidToBytes(uuidv7()));
let sequence = 0n;
let micros = Date.UTC(2026, 10, 20) * 1000;

const labels = Array.from(
  { length: 1_000 },
  (_, link): ClickLabels => ({
    ...NO_LABELS,
    slug: `slug-${link}`,
    utmSource: ['twitter', 'tiktok', 'newsletter'][link % 3] ?? '',
    utmMedium: 'social',
    utmCampaign: `campaign-${link % 50}`,
  }),
);

const PLACES = 3_000;
const NOWHERE: Place = { country: '', city: '', continent: '', region: '', asn: 0 };
const NO_AGENT: UserAgentProfile = { device: 'other', browser: '', os: '', bot: true };
const NO_REFERER: StoredReferer = { text: '', host: '', ...DIRECT };
const places = Array.from(
  { length: PLACES },
  (_, i): Place => ({
    country: ['US', 'DE', 'GB', ''][i % 4] ?? '',
    city: `City ${i}`,
    continent: ['NA', 'EU', 'EU', ''][i % 4] ?? '',
    region: ['US-NY', 'DE-BE', 'GB-ENG', ''][i % 4] ?? '',
    asn: 1_000 + i,
  }),
);
const agents = Array.from(
  { length: 3 },
  (_, i): UserAgentProfile => ({
    device: i === 0 ? 'desktop' : 'mobile',
    browser: ['Chrome', 'Safari', 'Firefox'][i] ?? '',
    os: ['Windows', 'iOS', 'Android'][i] ?? '',
    bot: false,
  }),
);
const referers = Array.from(
  { length: 500 },
  (_, i): StoredReferer => ({
    text: `https://example.com/articles/${i}`,
    host: 'example.com',
    source: 'example.com',
    sourceKind: 'site',
  }),
);

function generate(): ClickRow[] {
  return Array.from({ length: rowCount }, (_, i) => ({
    event: clickKey({
      ts: micros++,
      workspaceId: workspaces[i % 2] ?? new Uint8Array(16),
      linkId: links[(i * 7_919) % 1_000] ?? new Uint8Array(16),
      visitorId: uuidToBytes(uuidv7()),
    }),
    enriched: {
      place: places[(i * 31) % PLACES] ?? NOWHERE,
      agent: agents[i % 3] ?? NO_AGENT,
      referer: referers[(i * 13) % 500] ?? NO_REFERER,
      isBot: i % 50 === 0,
      channel: ['twitter', 'tiktok', 'newsletter'][i % 3] ?? '',
      ad: NO_AD,
      trigger: i % 20 === 0 ? 'qr' : 'link',
      language: ['en', 'de', 'en', ''][i % 4] ?? '',
      labels: labels[(i * 7_919) % 1_000] ?? NO_LABELS,
    },
    ordinal: 7,
    sequence: sequence++,
  }));
}

function texts({ enriched }: ClickRow): string[] {
  const { channel, place, agent, referer } = enriched;
  return [channel, place.country, place.city, agent.device, agent.browser, agent.os, referer.text];
}

/** Returns the texts of the columns between `trigger` and `asn`. */
function laterTexts({ enriched }: ClickRow): string[] {
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ruleId, variantId } = enriched.labels;
  const { place, referer, language } = enriched;
  const utm = [utmSource, utmMedium, utmCampaign, utmTerm, utmContent];
  return [...utm, referer.host, place.continent, place.region, language, ruleId, variantId];
}

function rowBinary(rows: ClickRow[]): Uint8Array[] {
  const buffer = Buffer.allocUnsafe(rows.length * 400);
  let at = 0;
  const uuid = (bytes: Uint8Array, from: number) => {
    for (let i = 0; i < 8; i++) {
      buffer[at + i] = bytes[from + 7 - i] ?? 0;
      buffer[at + 8 + i] = bytes[from + 15 - i] ?? 0;
    }
    at += 16;
  };
  const write = (list: string[]) => {
    for (const text of list) {
      const size = buffer.write(text, at + 1); // All are shorter than 128 bytes here.
      buffer[at] = size;
      at += 1 + size;
    }
  };
  for (const row of rows) {
    uuid(row.event.ids, row.event.idsAt + WORKSPACE_AT);
    at = buffer.writeBigInt64LE(BigInt(row.event.ts) * 1000n + BigInt(row.ordinal), at);
    uuid(row.event.ids, row.event.idsAt + LINK_AT);
    uuid(row.event.ids, row.event.idsAt + VISITOR_AT);
    write(texts(row));
    buffer[at++] = row.enriched.isBot ? 1 : 0;
    at = buffer.writeBigUInt64LE(row.sequence, at);
    write([row.enriched.labels.domain, row.enriched.labels.slug]);
    buffer[at++] = TRIGGERS.indexOf(row.enriched.trigger);
    write(laterTexts(row));
    at = buffer.writeUInt32LE(row.enriched.place.asn, at);
  }
  return [buffer.subarray(0, at)];
}

function json(rows: ClickRow[]): Uint8Array[] {
  const lines = rows.map((row) =>
    JSON.stringify([
      bytesToUuid(row.event.ids, row.event.idsAt + WORKSPACE_AT),
      `${Math.floor(row.event.ts / 1_000_000)}.${String(row.event.ts % 1_000_000).padStart(6, '0')}007`,
      bytesToUuid(row.event.ids, row.event.idsAt + LINK_AT),
      bytesToUuid(row.event.ids, row.event.idsAt + VISITOR_AT),
      ...texts(row),
      row.enriched.isBot,
      String(row.sequence),
      row.enriched.labels.domain,
      row.enriched.labels.slug,
      row.enriched.trigger,
      ...laterTexts(row),
      row.enriched.place.asn,
    ]),
  );
  return [Buffer.from(lines.join('\n'))];
}

async function insert(client: ClickHouseClient, format: string, block: Uint8Array[]): Promise<void> {
  const { stream } = await client.exec({
    query: `INSERT INTO ${DATABASE}.clicks FORMAT ${format}`,
    values: Readable.from(block, { objectMode: false }),
    clickhouse_settings: { async_insert: 0, wait_end_of_query: 1 },
  });
  for await (const _ of stream);
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
}

const client = createClickHouse({ url: values.url, database: 'default' });
await migrate(client, { database: DATABASE });
const table = [];
for (const [format, encode] of [
  ['Native', clickBlock],
  ['RowBinary', rowBinary],
  ['JSONCompactEachRow', json],
] as const) {
  const [encoding, storing]: [number[], number[]] = [[], []];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const rows = generate();
    const began = performance.now();
    const block = encode(rows);
    const encoded = performance.now();
    await insert(client, format, block);
    encoding.push(encoded - began);
    storing.push(performance.now() - encoded);
    bytes = block.reduce((sum, piece) => sum + piece.length, 0);
  }
  table.push({
    format,
    'encoded rows/s': Math.round((rowCount / median(encoding)) * 1000),
    'stored rows/s': Math.round((rowCount / median(storing)) * 1000),
    'bytes/row': Math.round(bytes / rowCount),
  });
}
process.stdout.write(`${rowCount} rows a block, ${COLUMNS} columns, median of ${rounds}\n`);
console.table(table);
await client.command({ query: `DROP DATABASE ${DATABASE} SYNC` });
await client.close();
