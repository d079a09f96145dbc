import { constants, zstdCompressSync } from 'node:zlib';
import kafkaRecord from 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
import { preferredLanguage } from '../core/enrich/languages.ts';
import { adaptKafkajs } from '../core/event-log/kafka/client.ts';
import { compress } from '../core/event-log/kafka/compression.ts';
import { toMessage } from '../core/event-log/kafka/record.ts';
import { ADDRESS_BYTES, createAddressSealer } from '../core/events/address-seal.ts';
import { NO_LABELS, SharedLabels } from '../core/events/click-labels.ts';
import { createEventEncoder } from '../core/events/codec.ts';
import type { ClickEvent } from '../core/events/types.ts';
import { uuidToBytes, uuidv7 } from '../core/ids.ts';
import { seededRandom } from '../core/seeded-random.ts';
import { linkIdOf, slugOf } from './data/links.ts';
import { mapped, type Visitor, visitorsFrom } from './data/visitors.ts';
import { readOptions } from './harness/options.ts';
import { number, report } from './harness/report.ts';

/**
 * Computes the bytes that a click takes in a compressed record of Kafka. The load of the machine does not matter.
 *
 *   node bench/record-bytes.ts [--links 1000] [--clicks 8000]
 *
 * Visitors and links are those of `bench/cost.ts`, which requests one link after the other: a link does not repeat
 * within a record of fewer clicks than links. Skewed links have a realistic distribution of popularity.
 */

const options = readOptions({ links: 1_000, clicks: 8_000 });
/** Clicks of a record. The shipper sends 25 records a second at most. */
const SIZES = [20, 50, 100, 200, 500, 2_000];
/** Bytes of a record batch before its compressed part. */
const HEADER_BYTES = 61;
const STREAM = '01900000-0000-7000-8000-000000000001';
const EVERY_MICROS = 200;

type Traffic = { name: string; isSkewed: boolean; ipv6: number };

const TRAFFIC: Traffic[] = [
  { name: 'links in turn, IPv4 (as bench/cost.ts)', isSkewed: false, ipv6: 0 },
  { name: 'links in turn, half IPv6', isSkewed: false, ipv6: 0.5 },
  { name: 'skewed links, IPv4', isSkewed: true, ipv6: 0 },
  { name: 'skewed links, half IPv6', isSkewed: true, ipv6: 0.5 },
];

adaptKafkajs();
const random = seededRandom(11);
const sealer = createAddressSealer(Buffer.alloc(32, 7));
const workspaceId = uuidToBytes(uuidv7());
const links = Array.from({ length: options.links }, (_, n) => ({
  linkId: uuidToBytes(linkIdOf(n)),
  labels: new SharedLabels({
    ...NO_LABELS,
    slug: slugOf(n),
    utmSource: 'facebook',
    utmMedium: 'social',
    utmCampaign: `spring-sale-${n % 50}`,
  }),
}));
const nextVisitor = visitorsFrom(7);
const visitors = Array.from({ length: 2_000 }, nextVisitor);

const encode = createEventEncoder();

function clickOf(visitor: Visitor, link: (typeof links)[number], isIpv6: boolean): ClickEvent {
  const address = mapped(visitor.address);
  if (isIpv6) address.set(uuidToBytes(uuidv7()));
  return {
    kind: 'click',
    ts: 0,
    workspaceId,
    visitorId: uuidToBytes(uuidv7()),
    ...link,
    channel: 'facebook',
    language: preferredLanguage(visitor.languages),
    referer: visitor.referer,
    userAgent: visitor.userAgent,
    address,
    flags: 0,
    ad: null,
  };
}

function clicksOf({ isSkewed, ipv6 }: Traffic, first: number, count: number): ClickEvent[] {
  return Array.from({ length: count }, (_, n) => {
    const place = isSkewed ? Math.floor(links.length ** random()) - 1 : (first + n) % links.length;
    const visitor = visitors[Math.floor(random() * visitors.length)];
    const link = links[place];
    if (!visitor || !link) throw new RangeError(`no link ${place}`);
    return clickOf(visitor, link, random() < ipv6);
  });
}

const buffer = Buffer.alloc(4 * 2 ** 20);
let sequence = 1n << 40n;
let now = Date.UTC(2026, 10, 26) * 1_000;

/** The options without the higher level of small records. */
const LEVEL_3 = {
  [constants.ZSTD_c_checksumFlag]: 1,
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_hashLog]: 15,
  [constants.ZSTD_c_chainLog]: 14,
};

/** `raw`: as in the journal, without frames. */
type Bytes = { compressed: number; atLevel3: number; raw: number };

/** Returns the bytes of a record of these clicks, including its headers. */
function recordBytes(clicks: ClickEvent[]): Bytes {
  const pads = sealer.pads(STREAM, sequence, clicks.length);
  const minTs = now;
  let end = 0;
  for (const [n, click] of clicks.entries()) {
    now += EVERY_MICROS + Math.floor(random() * 40);
    end = encode(click, now, { bytes: pads, position: n * ADDRESS_BYTES }, buffer, end);
  }
  const batch = {
    offset: 0n,
    nextOffset: 0n,
    streamId: STREAM,
    firstSequence: sequence,
    count: clicks.length,
  };
  sequence += BigInt(clicks.length);
  const { key, value, headers } = toMessage(
    { ...batch, minTs, maxTs: now, payload: buffer.subarray(0, end) },
    0,
  );
  const record = kafkaRecord({ key: String(key), value: value as Buffer, headers: headers as never });
  const atLevel3 = HEADER_BYTES + zstdCompressSync(record.buffer, { params: LEVEL_3 }).length;
  return { compressed: HEADER_BYTES + compress(record).length, atLevel3, raw: end };
}

const tables = TRAFFIC.map((traffic) => ({
  title: traffic.name,
  header: ['clicks a record', 'bytes a click', 'at level 3', 'in the journal'],
  rows: SIZES.map((size) => {
    const records = Math.max(4, Math.round(options.clicks / size));
    const sum: Bytes = { compressed: 0, atLevel3: 0, raw: 0 };
    for (let n = 0; n < records; n++) {
      const one = recordBytes(clicksOf(traffic, n * size, size));
      sum.compressed += one.compressed / (records * size);
      sum.atLevel3 += one.atLevel3 / (records * size);
      sum.raw += one.raw / (records * size);
    }
    return [number(size), ...[sum.compressed, sum.atLevel3, sum.raw].map((value) => number(value, 1))];
  }),
}));
report(options.results, {
  name: 'record-bytes',
  title: 'Bytes of a click in a compressed record of Kafka, one replica',
  versions: [`Zstandard ${process.versions.zstd}`],
  tables,
  notes: ['Records below 128 KiB are compressed at level 6.'],
});
