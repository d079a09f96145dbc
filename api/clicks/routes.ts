import { Readable } from 'node:stream';
import { reportWindow } from '../../analytics/report-window.ts';
import { type ExportFormat, exportClicks } from '../../clickhouse/queries/export-clicks.ts';
import { oldestClicks } from '../../clickhouse/queries/newest-clicks.ts';
import { AppError } from '../../core/errors.ts';
import { formatInstant, NANOS_PER_MICRO, parseInstant } from '../../core/time/timestamps.ts';
import { aheadOfClock } from '../ahead-of-clock.ts';
import { clickConditionsOf } from '../analytics/click-filters.ts';
import { BYTE_ORDER_MARK, requireBomOfCsv } from '../byte-order-mark.ts';
import type { Api, ApiDeps, FastifyRequest } from '../dependencies.ts';
import { callerGone } from '../plugins/errors.ts';
import { readingPointOf } from '../reading-point.ts';
import { ClicksPage, ClicksQuery, ExportQuery } from './schemas.ts';
import { clicksPage, filterOf, linksOf, type PageRequest } from './service.ts';
import { createClickReader } from './shared-polls.ts';

const MEDIA_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

const EXPORT_ANSWER = {
  description:
    'The columns are the fields of a `Click`. In Parquet, `ts` is a UTC timestamp with microseconds. A transfer that ' +
    'breaks off is incomplete: retry it.',
  content: Object.fromEntries(
    Object.values(MEDIA_TYPES).map((type) => [type.split(';')[0], { schema: { type: 'string' } }]),
  ),
};

/**
 * Exports of one process at a time, and those of one workspace. Each holds a connection to the store for as long as its
 * reader likes, and inserts of the same process need some too.
 */
const MAX_EXPORTS = { all: 12, ofWorkspace: 4 };
/** Wait before a caller may try again. Seconds. */
const RETRY_SECONDS = 5;

/** `GET /clicks`, the raw stream, and `GET /clicks/export`, a window of it in one file. */
export async function clickRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const config = { scope: 'secret', plan: 'paid' } as const;
  const readClicks = createClickReader();
  const exporting: string[] = [];

  app.get(
    '/clicks',
    {
      config: { ...config, readsClicks: true, promisedUpTo, answers: { 200: ClicksPage } },
      schema: {
        tags: ['Clicks'],
        operationId: 'clicks.list',
        summary: 'List clicks, newest first',
        description:
          "Pass `next_cursor` as `before` until it is null to read every click exactly once. To poll, pass the previous `watermark` as `since` (with several pages, the first page's) and drop ids that you have already seen. Polling misses no click, however late a click reaches the database. To copy clicks to a warehouse, use `order=asc` and `settled=true`: the newest `ts` that you have is the next `since`, also when a load breaks off.",
        querystring: ClicksQuery,
      },
    },
    async ({ auth, query, clickhouse }, reply) => {
      const point = await readingPointOf(deps, auth);
      const conditions = await clickConditionsOf({ ...deps, clickhouse }, auth.workspace, query);
      const filter = filterOf(auth.workspace, point, await corrected(deps, query), conditions);
      const most = query.limit + 1;
      const rows = await (query.order === 'asc'
        ? oldestClicks(clickhouse, filter, most)
        : readClicks(clickhouse, filter, most));
      return reply
        .type('application/json; charset=utf-8')
        .send(clicksPage(rows, point.watermark, query.limit));
    },
  );

  app.get(
    '/clicks/export',
    {
      config: { ...config, answers: { 200: EXPORT_ANSWER }, errors: ['too_many_requests'] },
      // A HEAD would run the whole export for nothing.
      exposeHeadRoute: false,
      schema: {
        tags: ['Clicks'],
        operationId: 'clicks.export',
        summary: 'Export clicks as a file, newest first',
        description:
          "In CSV, a text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets a leading `'`, so that no " +
          'spreadsheet runs it as a formula. NDJSON and Parquet have the text as sent. ' +
          `At most ${MAX_EXPORTS.ofWorkspace} exports of a workspace run at a time in each API process, else 429. A reader that ` +
          'stalls for 30 seconds is disconnected.',
        querystring: ExportQuery,
      },
    },
    async (request, reply) => {
      const { auth, query } = request;
      requireBomOfCsv(query);
      const linkIds = linksOf(query);
      const { span } = reportWindow(query, auth.workspace);
      const workspaceId = auth.workspace.id;
      const conditions = await deps.readers.read((clickhouse) =>
        clickConditionsOf({ pool: deps.pool, clickhouse }, auth.workspace, query),
      );
      const own = exporting.filter((id) => id === workspaceId).length;
      if (own >= MAX_EXPORTS.ofWorkspace || exporting.length >= MAX_EXPORTS.all) {
        if (own < MAX_EXPORTS.ofWorkspace) {
          throw new AppError(
            'unavailable',
            `${exporting.length} exports of all workspaces are under way; try again`,
          );
        }
        throw new AppError(
          'too_many_requests',
          `${own} exports of yours are under way; try again`,
          undefined,
          {
            retryAfter: RETRY_SECONDS,
          },
        );
      }
      await request.audit(deps.pool);
      // A response that is already closed emits no further `close`.
      if (reply.raw.destroyed) throw callerGone();
      exporting.push(workspaceId);
      // A caller who hangs up ends the query, also before its first byte.
      const gone = new AbortController();
      reply.raw.once('close', () => {
        exporting.splice(exporting.indexOf(workspaceId), 1);
        gone.abort();
      });
      const filter = {
        workspaceId,
        since: span.from,
        before: span.to,
        linkIds,
        bots: query.bots === 'include',
        conditions,
        orphans: query.orphans,
        hasDeletedLinks: true,
        imported: true,
      };
      const file = await deps.readers.read((clickhouse) =>
        exportClicks(clickhouse, filter, query.format, gone.signal),
      );
      return reply
        .type(MEDIA_TYPES[query.format])
        .header('content-disposition', `attachment; filename="clicks.${query.format}"`)
        .send(query.bom === '1' ? Readable.from(withMark(file), { objectMode: false }) : file);
    },
  );
}

async function* withMark(file: Readable): AsyncGenerator<Buffer | string> {
  yield BYTE_ORDER_MARK;
  yield* file;
}

/**
 * Returns the time up to which the reader of a page was promised every click. It has what is older than its `since`, and
 * a page that continues at `before` follows one that had what is newer.
 */
function promisedUpTo({ query }: FastifyRequest): number {
  const { since, since_after: after, before } = query as Partial<PageRequest>;
  const times = [since, after, before].map((text) => (text === undefined ? null : parseInstant(text)));
  return Math.max(0, ...times.map((time) => Number((time ?? 0n) / NANOS_PER_MICRO)));
}

/**
 * Moves the `since` and `since_after` of a poll back by as much as the clicks that they name were moved when a wrong
 * clock was corrected.
 */
async function corrected({ pool }: Pick<ApiDeps, 'pool'>, query: PageRequest): Promise<PageRequest> {
  const page = { ...query };
  for (const name of ['since', 'since_after'] as const) {
    const text = query[name];
    const place = text === undefined ? null : parseInstant(text);
    const ahead = place === null ? 0n : await aheadOfClock(pool, place);
    if (place !== null && ahead !== 0n) page[name] = formatInstant(place - ahead, 9);
  }
  return page;
}
