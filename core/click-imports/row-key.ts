import { createHash, createHmac } from 'node:crypto';
import type { ClickRow } from './click-row.ts';

/** Identifies an imported click: 64 bits in two halves, and 16 bytes for the visitor of a click that names none. */
export type RowKey = { high: number; low: number; visitor: Buffer };

/** Imports of one count that may each add to it: the number is in the first byte of the key. */
export const MOST_GROWTHS = 256;
const COUNT_BITS = 24;
const COUNT_MASK = 2 ** COUNT_BITS - 1;

/** Returns the key of an addition to a count: 56 bits of the count's own key, and the number of the addition. */
export function growthKey(key: RowKey, nth: number): RowKey {
  return { ...key, high: nth * 2 ** COUNT_BITS + (key.high & COUNT_MASK) };
}

/** Returns what is the same in the keys of all additions to a count, and the number of this one. */
export function growthOf(high: number): { high: number; nth: number } {
  return { high: high & COUNT_MASK, nth: high >>> COUNT_BITS };
}

/**
 * Returns the key of a click of a source. The same row of the same source has the same key in every import.
 *
 * @param occurrence how many equal rows are before it in the file: equal rows of one file are several clicks
 */
export function rowKey(source: string, linkId: string, row: ClickRow, occurrence: number): RowKey {
  const { sourceId } = row;
  const what = sourceId === '' ? allOf(row) : `id ${sourceId}`;
  const text = `${source}\0${linkId}\0${row.ts}\0${what}${occurrence === 0 ? '' : `\0${occurrence}`}`;
  const digest = createHash('sha256').update(text).digest();
  return {
    high: digest.readUInt32BE(0),
    low: digest.readUInt32BE(4),
    visitor: asUuid(digest.subarray(8, 24)),
  };
}

function allOf(row: ClickRow): string {
  return [
    row.country,
    row.region,
    row.city,
    row.device,
    row.browser,
    row.os,
    row.referer,
    row.userAgent,
    row.visitor,
    row.channel,
    row.language,
    row.trigger,
    row.utmSource,
    row.utmMedium,
    row.utmCampaign,
    row.utmTerm,
    row.utmContent,
    row.ruleId,
    row.variantId,
    row.asn,
    row.ad.network,
    row.ad.param,
    row.ad.id,
    row.count,
    row.isBot,
  ].join('\0');
}

/**
 * Returns the id of a visitor, 16 bytes, by the source's name of the visitor. The hash is keyed: a name may be an
 * address, and without a key one could find it by trying all addresses.
 */
export function visitorOfName(secret: Buffer, workspaceId: string, name: string): Buffer {
  return asUuid(createHmac('sha256', secret).update(`imported visitor\0${workspaceId}\0${name}`).digest());
}

/** Makes the first 16 bytes a UUID of version 8 (RFC 9562: values of one's own). */
function asUuid(bytes: Buffer): Buffer {
  const id = Buffer.from(bytes.subarray(0, 16));
  id.writeUInt8((id.readUInt8(6) & 0x0f) | 0x80, 6);
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8);
  return id;
}
