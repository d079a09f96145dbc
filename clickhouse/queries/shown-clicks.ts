import type { ClickRecord } from '../../core/clicks/click-fields.ts';
import type { ShownClick } from '../../core/clicks/click-record.ts';

/** The columns of a {@link ShownClickRow} in `clicks`: the time, then the fields of a `ClickRecord` in their order. */
export const SHOWN_COLUMNS = `toUnixTimestamp64Nano(ts) AS nanos, link_id, visitor_id, channel, country, city, device,
  browser, os, referer, is_bot`;

/** A click as ClickHouse sends it. */
export type ShownClickRow = Omit<ClickRecord, 'id' | 'ts'> & { nanos: string };

/** Parses a row of a click. */
export function toShownClick(row: ShownClickRow): ShownClick {
  return {
    tsNanos: BigInt(row.nanos),
    linkId: row.link_id,
    visitorId: row.visitor_id,
    channel: row.channel,
    country: row.country,
    city: row.city,
    device: row.device,
    browser: row.browser,
    os: row.os,
    referer: row.referer,
    isBot: row.is_bot,
  };
}
