import { clickField, fieldsOf } from '../../core/clicks/field-names.ts';
import type { SharedPart } from '../../core/clicks/fields.ts';
import { TRIGGERS } from '../../core/clicks/triggers.ts';
import type { EnrichedClick } from '../../core/enrich/enrich.ts';
import { type ClickKey, LINK_AT, VISITOR_AT, WORKSPACE_AT } from '../../core/events/click-reader.ts';
import { lowCardinalityColumn, type SharedColumns, sharedColumns } from './low-cardinality-columns.ts';
import {
  boolColumn,
  enum8Column,
  type NativeColumn,
  nativeBlock,
  timeColumn,
  uint32Column,
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

/** A click of an import. */
export type ImportedClickRow = ClickRow & {
  /** How many clicks the row represents. */
  count: number;
};

/** Returns the rows as one block of table `clicks`. */
export function clickBlock(rows: readonly ClickRow[]): Uint8Array[] {
  return nativeBlock(clickColumns(rows), rows.length);
}

/** Returns the rows of an import as one block of table `clicks`. @param importId 16 bytes */
export function importedClickBlock(rows: readonly ImportedClickRow[], importId: Uint8Array): Uint8Array[] {
  const id = uuidColumn('import_id', rows.length);
  const extra = uint32Column('extra_clicks', rows.length);
  rows.forEach(({ count }, row) => {
    id.put(row, importId);
    extra.put(row, count - 1);
  });
  return nativeBlock([...clickColumns(rows), id, extra], rows.length);
}

function clickColumns(rows: readonly ClickRow[]): NativeColumn[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const ts = timeColumn('ts', size);
  const link = uuidColumn('link_id', size);
  const visitor = uuidColumn('visitor_id', size);
  const sequence = uint64Column('sequence', size);
  const channel = lowCardinalityColumn('channel', size);
  const language = lowCardinalityColumn('language', size);
  const trigger = enum8Column('trigger', size, TRIGGERS);
  const isBot = boolColumn('is_bot', size);
  const shared = SHARED_PARTS.map((part) => ({ part, columns: partColumns(part, size) }));
  let row = 0;
  for (const { event, enriched, ordinal, sequence: number } of rows) {
    workspace.put(row, event.ids, event.idsAt + WORKSPACE_AT);
    ts.put(row, event.ts, ordinal);
    link.put(row, event.ids, event.idsAt + LINK_AT);
    visitor.put(row, event.ids, event.idsAt + VISITOR_AT);
    sequence.put(row, number);
    channel.put(row, enriched.channel);
    language.put(row, enriched.language);
    trigger.put(row, enriched.trigger);
    isBot.put(row, enriched.isBot);
    for (const { part, columns } of shared) columns.put(row, enriched[part]);
    row += 1;
  }
  const own = [workspace, ts, link, visitor, sequence, channel, language, trigger, isBot];
  return [...own, ...shared.flatMap(({ columns }) => columns.columns)];
}

const SHARED_PARTS: readonly SharedPart[] = ['referer', 'place', 'agent', 'labels', 'ad'];

/** Returns the columns of the fields that clicks share in a part, such as their place. */
function partColumns(part: SharedPart, rows: number): SharedColumns<object> {
  const texts: Record<string, (value: object) => string> = {};
  const numbers: Record<string, (value: object) => number> = {};
  for (const [name, property] of fieldsOf(part)) {
    const read = (value: object) => value[property as keyof typeof value];
    if (clickField(name).type === 'number') numbers[name] = read;
    else texts[name] = read;
  }
  return sharedColumns(rows, { texts, numbers });
}
