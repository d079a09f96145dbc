import type { ClickText } from '../../clickhouse/queries/click-text.ts';
import type { ClickFilter } from '../../clickhouse/queries/newest-clicks.ts';
import { AppError } from '../../core/errors.ts';
import { NANOS_PER_MICRO } from '../../core/time/timestamps.ts';
import type { ReadingPoint } from '../../sql/event-log/reading-points.ts';
import type { FastifyRequest } from '../dependencies.ts';
import type { ExpectedReader } from '../plugins/expected-readers.ts';
import { filterOf, type PageRequest } from './service.ts';
import type { ReadClicks } from './shared-polls.ts';

/** Clicks that were read, and the watermark that was read before. */
export type ClicksRead = { rows: ClickText[]; watermark: number | null };

type Begun = { filter: ClickFilter; watermark: number | null; rows: Promise<ClickText[]> };

/**
 * Reads the clicks of a request while PostgreSQL is asked whether its key is still what it was a moment ago. What was read
 * counts only if it is: if the workspace and what was to be known of it are the same. Otherwise they are read anew.
 */
export type AskedAhead = {
  /** Begins with what a request with valid parameters asks for, if its caller is who is expected. */
  begin(request: FastifyRequest, expected: ExpectedReader): void;
  /** The request's clicks, once it is known whose request it is. @param point was read after `begin`, if that began */
  read(
    request: FastifyRequest,
    workspaceId: string,
    point: ReadingPoint,
    query: PageRequest,
  ): Promise<ClicksRead>;
};

export function createAskedAhead(readClicks: ReadClicks): AskedAhead {
  const begun = new WeakMap<FastifyRequest, Begun>();

  return {
    begin(request, { workspaceId, readingPoint: { watermark, hasDeletedLinks } }) {
      const query = validQuery(request);
      const filter = query && filterIfValid(workspaceId, hasDeletedLinks, query);
      if (!filter || isBehind(watermark, filter)) return;
      const rows = readClicks(filter, query.limit + 1);
      // Nobody waits for it when the caller is refused.
      rows.catch(() => undefined);
      begun.set(request, { filter, watermark, rows });
    },
    async read(request, workspaceId, { watermark, hasDeletedLinks }, query) {
      const ahead = begun.get(request);
      if (ahead?.filter.workspaceId === workspaceId && ahead.filter.hasDeletedLinks === hasDeletedLinks) {
        return { rows: await ahead.rows, watermark: ahead.watermark };
      }
      const filter = filterOf(workspaceId, hasDeletedLinks, query);
      return { rows: await readClicks(filter, query.limit + 1), watermark };
    },
  };
}

/**
 * Whether a watermark is older than the one that a poll passes back: then another process has given that one, and this poll's
 * would go back.
 */
const isBehind = (watermark: number | null, { since }: ClickFilter): boolean =>
  since !== null && BigInt(watermark ?? 0) * NANOS_PER_MICRO < since;

/** The parameters as the route's handler will get them; null: it will not. They are not for this to judge. */
function validQuery(request: FastifyRequest): PageRequest | null {
  const query = { ...(request.query as PageRequest) };
  return request.validateInput(query, 'querystring') ? query : null;
}

function filterIfValid(
  workspaceId: string,
  hasDeletedLinks: boolean,
  query: PageRequest,
): ClickFilter | null {
  try {
    return filterOf(workspaceId, hasDeletedLinks, query);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
