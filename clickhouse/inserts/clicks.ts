import type { EnrichedClick } from '../../core/enrich/enrich.ts';
import type { ClickKey } from '../../core/events/click-reader.ts';
import {
  boolColumn,
  lowCardinalityColumn,
  nativeBlock,
  textColumn,
  timeColumn,
  uint64Column,
  uuidColumn,
} from './native-columns.ts';

/** A click to be inserted. */
export type ClickRow = {
  event: ClickKey;
  enriched: EnrichedClick;
  /** The ordinal of the click's stream: the last three digits of `ts`. */
  ordinal: number;
  sequence: bigint;
};

/** Returns the rows as one block of table `clicks`. */
export function clickBlock(rows: readonly ClickRow[]): Uint8Array[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const ts = timeColumn('ts', size);
  const link = uuidColumn('link_id', size);
  const visitor = uuidColumn('visitor_id', size);
  const channel = lowCardinalityColumn('channel', size);
  const country = lowCardinalityColumn('country', size);
  const city = lowCardinalityColumn('city', size);
  const device = lowCardinalityColumn('device', size);
  const browser = lowCardinalityColumn('browser', size);
  const os = lowCardinalityColumn('os', size);
  const referer = textColumn('referer', size);
  const isBot = boolColumn('is_bot', size);
  const sequence = uint64Column('sequence', size);
  let row = 0;
  for (const { event, enriched, ordinal, sequence: number } of rows) {
    workspace.put(row, event.ids, event.idsAt);
    ts.put(row, event.ts, ordinal);
    link.put(row, event.ids, event.idsAt + 16);
    visitor.put(row, event.ids, event.idsAt + 32);
    channel.put(row, enriched.channel);
    country.put(row, enriched.country);
    city.put(row, enriched.city);
    device.put(row, enriched.device);
    browser.put(row, enriched.browser);
    os.put(row, enriched.os);
    referer.put(row, enriched.referer);
    isBot.put(row, enriched.isBot);
    sequence.put(row, number);
    row += 1;
  }
  const columns = [
    workspace,
    ts,
    link,
    visitor,
    channel,
    country,
    city,
    device,
    browser,
    os,
    referer,
    isBot,
    sequence,
  ];
  return nativeBlock(columns, size);
}
