import type { ShownClick } from '../../core/clicks/click-record.ts';
import { CLICK_NAMES, type ClickRecord, NO_LINK } from '../../core/clicks/field-names.ts';

/** The columns of a {@link ShownClickRow} in `clicks`: the time, then the fields of a `ClickRecord` in their order. */
export const SHOWN_COLUMNS = `toUnixTimestamp64Nano(ts) AS nanos, ${CLICK_NAMES.join(', ')}`;

/** A click as ClickHouse sends it. */
export type ShownClickRow = Omit<ClickRecord, 'id' | 'ts' | 'link_id'> & { nanos: string; link_id: string };

/** Parses a row of a click. */
export function toShownClick({ nanos, link_id, ...fields }: ShownClickRow): ShownClick {
  return { tsNanos: BigInt(nanos), link_id: link_id === NO_LINK ? null : link_id, ...fields };
}
