import type { EnrichedClick } from '../enrich/enrich.ts';
import { clickId } from '../ids.ts';
import { formatInstant } from '../time/timestamps.ts';
import { CLICK_NAMES, type ClickFieldName, type ClickRecord, clickField } from './field-names.ts';
import type { CLICK_FIELDS, SharedPart } from './fields.ts';

/** The fields whose `at` names no property of an enriched click. */
type Missing = {
  [N in ClickFieldName]: (typeof CLICK_FIELDS)[N] extends { at: readonly [infer P, infer K] }
    ? K extends keyof (P extends keyof EnrichedClick ? EnrichedClick[P] : EnrichedClick)
      ? never
      : N
    : never;
}[ClickFieldName];
true satisfies [Missing] extends [never] ? true : Missing;

type Reader = { name: ClickFieldName } & (
  | { own: number | boolean }
  | { part: SharedPart | 'click'; property: string }
);

const READERS = CLICK_NAMES.flatMap((name): Reader[] => {
  const { at, own } = clickField(name);
  if (at) return [{ name, part: at[0], property: at[1] }];
  return own === undefined ? [] : [{ name, own }];
});

/** The fields of a click that the API shows, by the API's names, without its id and time. */
export type ShownClick = Omit<ClickRecord, 'id' | 'ts'> & {
  /** Nanoseconds since the epoch, unique in the deployment. */
  tsNanos: bigint;
};

/** Returns a click as the API shows it. */
export function clickRecord({ tsNanos, ...fields }: ShownClick): ClickRecord {
  return { id: clickId(tsNanos), ts: formatInstant(tsNanos, 6), ...fields };
}

/** Returns the fields of an enriched click as the API names them, in the order of the table. */
export function shownFields(
  enriched: EnrichedClick,
  ids: Pick<ClickRecord, 'link_id' | 'visitor_id'>,
): Omit<ShownClick, 'tsNanos'> {
  const { link_id, visitor_id } = ids;
  const record: Record<string, unknown> = { link_id, visitor_id };
  for (const reader of READERS) {
    if ('own' in reader) {
      record[reader.name] = reader.own;
      continue;
    }
    const of: object = reader.part === 'click' ? enriched : enriched[reader.part];
    record[reader.name] = of[reader.property as keyof typeof of];
  }
  return record as Omit<ShownClick, 'tsNanos'>;
}
