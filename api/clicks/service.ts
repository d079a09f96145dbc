import type { Condition, Orphans } from '../../clickhouse/queries/click-conditions.ts';
import type { ClickText } from '../../clickhouse/queries/click-text.ts';
import type { ClickFilter } from '../../clickhouse/queries/newest-clicks.ts';
import { clampToStored, formatInstant, NANOS_PER_MICRO, requireInstant } from '../../core/time/timestamps.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import { readIdList } from '../id-lists.ts';
import { dataBegin } from '../report-window.ts';

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

export type PageRequest = FilterRequest & { limit: number; before?: string; since?: string };

/**
 * Which clicks a page is of. None is older than the workspace keeps clicks, whether it has been removed already or not.
 *
 * @throws {AppError} `bad_request` for a list of ids that is malformed or too long
 */
export function filterOf(
  workspace: Pick<Workspace, 'id' | 'retention_months'>,
  hasDeletedLinks: boolean,
  request: PageRequest,
  conditions: readonly Condition[],
): ClickFilter {
  const begin = dataBegin(workspace);
  const since = request.since === undefined ? null : clampToStored(requireInstant('since', request.since));
  return {
    workspaceId: workspace.id,
    since: begin !== null && (since === null || since < begin) ? begin : since,
    before: request.before === undefined ? null : clampToStored(requireInstant('before', request.before)),
    linkIds: linksOf(request),
    bots: request.bots === 'include',
    conditions,
    orphans: request.orphans,
    hasDeletedLinks,
  };
}

/**
 * One page of the stream, newest first, as the JSON of a `ClicksPage`. The cursor is the last click's `ts` with all its nine
 * digits, which no other click has.
 *
 * @param rows one more than `limit`, where another page follows
 * @param watermark was read before them
 */
export function clicksPage(rows: readonly ClickText[], watermark: number | null, limit: number): string {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const rest = JSON.stringify({
    next_cursor: rows.length > limit && last ? formatInstant(last.tsNanos, 9) : null,
    // Without a stream there are no clicks, and the first click can have any time.
    watermark: formatInstant(BigInt(watermark ?? 0) * NANOS_PER_MICRO, 6),
  });
  return `{"clicks":[${page.map(({ json }) => json).join(',')}],${rest.slice(1)}`;
}
