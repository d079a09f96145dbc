import { dataBegin } from '../../analytics/report-window.ts';
import type { Condition, Orphans } from '../../clickhouse/queries/click-conditions.ts';
import type { ClickText } from '../../clickhouse/queries/click-text.ts';
import type { ClickFilter } from '../../clickhouse/queries/newest-clicks.ts';
import { badRequest } from '../../core/errors.ts';
import { clampToStored, formatInstant, NANOS_PER_MICRO, requireInstant } from '../../core/time/timestamps.ts';
import type { ReadingPoint } from '../../sql/event-log/reading-points.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import { readIdList } from '../id-lists.ts';

/** The parameters that say which clicks, after their schema. */
export type FilterRequest = {
  link_id?: string;
  link_ids?: string;
  bots: 'exclude' | 'include';
  orphans: Orphans;
};

/**
 * Which links' clicks a request is about: those of `link_id` and `link_ids` alike; null: all.
 *
 * @throws {AppError} `bad_request` when `link_ids` is malformed or too long
 */
export function linksOf({ link_id, link_ids }: FilterRequest): string[] | null {
  const one = link_id?.toLowerCase();
  const several = link_ids === undefined ? null : readIdList('link_ids', link_ids);
  if (one === undefined) return several;
  if (several === null) return [one];
  return several.filter((id) => id === one);
}

export type PageRequest = FilterRequest & {
  limit: number;
  order: 'asc' | 'desc';
  settled: 'true' | 'false';
  before?: string;
  since?: string;
  since_after?: string;
};

/**
 * Returns the filter of a page. It excludes clicks that are older than the workspace keeps them, even those not removed
 * yet.
 *
 * @param watermark microseconds; null without a stream
 * @throws {AppError} `bad_request` for a list of ids that is malformed or too long, and for `asc` without a begin
 */
export function filterOf(
  workspace: Pick<Workspace, 'id' | 'retention_months'>,
  { watermark, hasDeletedLinks }: ReadingPoint,
  request: PageRequest,
  conditions: readonly Condition[],
): ClickFilter {
  const at = (name: 'since' | 'since_after' | 'before') => {
    const text = request[name];
    return text === undefined ? [] : [requireInstant(name, text)];
  };
  const begins = [...at('since'), ...at('since_after').map((after) => after + 1n)];
  if (request.order === 'asc' && begins.length === 0) throw badRequest('since', 'is required with order=asc');
  const begin = dataBegin(workspace);
  const ends = [...at('before'), ...(request.settled === 'true' ? [watermarkNanos(watermark)] : [])];
  return {
    workspaceId: workspace.id,
    since: latestOf([...begins, ...(begin === null ? [] : [begin])]),
    before: earliestOf(ends),
    linkIds: linksOf(request),
    bots: request.bots === 'include',
    conditions,
    orphans: request.orphans,
    hasDeletedLinks,
    // A poller would get imported clicks between those that it already has.
    imported: request.since === undefined,
  };
}

/** Returns the latest of some instants, within the range of ClickHouse; null when there is none. */
const latestOf = (instants: readonly bigint[]): bigint | null => sorted(instants).at(-1) ?? null;

const earliestOf = (instants: readonly bigint[]): bigint | null => sorted(instants)[0] ?? null;

const sorted = (instants: readonly bigint[]) => instants.map(clampToStored).sort((a, b) => (a < b ? -1 : 1));

/** Without a stream there are no clicks, and the first click can have any time. */
const watermarkNanos = (watermark: number | null): bigint => BigInt(watermark ?? 0) * NANOS_PER_MICRO;

/**
 * One page of the stream, in the order of its rows, as the JSON of a `ClicksPage`. The cursor is the last click's `ts`
 * with all its nine digits, which no other click has.
 *
 * @param rows one more than `limit`, where another page follows
 * @param watermark was read before them
 */
export function clicksPage(rows: readonly ClickText[], watermark: number | null, limit: number): string {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const rest = JSON.stringify({
    next_cursor: rows.length > limit && last ? formatInstant(last.tsNanos, 9) : null,
    watermark: formatInstant(watermarkNanos(watermark), 6),
  });
  return `{"clicks":[${page.map(({ json }) => json).join(',')}],${rest.slice(1)}`;
}
