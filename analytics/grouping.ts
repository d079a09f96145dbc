import type { Key } from '../clickhouse/reports/index.ts';
import {
  type Dimension,
  isClockDimension,
  isLinkDimension,
  isTextDimension,
  timeUnitOf,
} from '../core/analytics/dimensions.ts';
import { bucketLabels } from '../core/time/time-buckets.ts';
import type { Queryable } from '../sql/database/pool.ts';
import { linkValues, valuesInUse } from '../sql/links/link-dimensions.ts';
import { bucketsOf, type FilterOrAny, shownTags } from './filters.ts';

/** How the dimensions of a query become the keys of its rows. */
export type Grouping = {
  keys: Key[];
  /** Starts of the buckets, nanoseconds. All dimensions of time share one key. */
  starts: bigint[];
  /** The key of each dimension, and for a dimension of time the labels by a bucket's start. */
  dimensions: { name: Dimension; key: number; labels: Map<string, string> | null }[];
};

type Around = { db: Queryable; workspaceId: string; span: { from: bigint; to: bigint }; timeZone: string };

/** @throws {AppError} `bad_request` for a window with too many buckets */
export async function groupingOf(
  around: Around,
  dimensions: readonly Dimension[],
  filters: readonly FilterOrAny[],
): Promise<Grouping> {
  const { timeZone } = around;
  const units = dimensions.flatMap((dimension) => timeUnitOf(dimension) ?? []);
  const all = [...new Set(units.flatMap((unit) => bucketsOf(around, unit)))].sort((a, b) => (a < b ? -1 : 1));
  // Buckets of several units have different starts before the window. The last of these starts its first bucket.
  const starts = all.slice(
    Math.max(
      0,
      all.findLastIndex((start) => start <= around.span.from),
    ),
  );
  const grouping: Grouping = { keys: [], starts, dimensions: [] };
  for (const name of dimensions) {
    const unit = timeUnitOf(name);
    const known = unit ? grouping.keys.findIndex(({ kind }) => kind === 'bucket') : -1;
    const key = known === -1 ? grouping.keys.push(await keyOf(around, name, filters)) - 1 : known;
    const labels = unit
      ? new Map(bucketLabels(starts, unit, timeZone).map((label, n) => [String(starts[n]), label]))
      : null;
    grouping.dimensions.push({ name, key, labels });
  }
  return grouping;
}

async function keyOf(
  { db, workspaceId }: Around,
  name: Dimension,
  filters: readonly FilterOrAny[],
): Promise<Key> {
  if (name === 'link') return { kind: 'link' };
  if (name === 'asn') return { kind: 'asn' };
  if (isTextDimension(name)) return { kind: 'text', dimension: name };
  if (isClockDimension(name)) return { kind: 'clock', dimension: name };
  if (!isLinkDimension(name)) return { kind: 'bucket' };
  const only = name === 'tag' ? shownTags(filters, await valuesInUse(db, workspaceId, 'tag')) : null;
  const values = await linkValues(db, workspaceId, name, only);
  return { kind: 'mapped', dimension: name, ...values, leavesOutOthers: only !== null };
}
