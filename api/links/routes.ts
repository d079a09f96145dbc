import { Type } from 'typebox';
import { filterChannel } from '../../core/enrich/channels.ts';
import { badRequest } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { toRecord } from '../../sql/links/link-record.ts';
import { linkById, listLinks } from '../../sql/links/links.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { readIdList } from '../id-lists.ts';
import { linkImportRoutes } from '../link-imports/routes.ts';
import { cutPage, readCursor } from '../pages.ts';
import { IdParams, Ok } from '../schemas.ts';
import { linkBulkChangeRoutes } from './bulk-change-routes.ts';
import { changeLink, checkChange, noSuchLink, readChangeRequest, removeLink } from './change.ts';
import { linkCommentRoutes } from './comment-routes.ts';
import { linkCreateRoutes } from './create-routes.ts';
import { destinationPageRoutes } from './destination-page-routes.ts';
import { linkPerformance } from './performance.ts';
import { linkQrRoute } from './qr-route.ts';
import { linkQrStyleRoutes } from './qr-style-routes.ts';
import {
  ChangeBody,
  LinkRecord,
  ListQuery,
  Performance,
  type ListQuery as Query,
  RecordsPage,
} from './schemas.ts';
import { linkSearchRoutes } from './search-routes.ts';

/** Registers all link routes, including those in files of their own: create, import, search and QR codes. */
export async function linkRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  const { shortUrl } = deps.config;
  await linkCreateRoutes(app, deps);
  await linkBulkChangeRoutes(app, deps);
  await linkImportRoutes(app, deps);
  await linkSearchRoutes(app, deps);
  await linkQrRoute(app, deps);
  await linkQrStyleRoutes(app, deps);
  await destinationPageRoutes(app, deps);
  await linkCommentRoutes(app, deps);

  app.get(
    '/links',
    {
      config: {
        scope: 'secret',
        plan: ({ query }) => ((query as Partial<Query>).view === 'records' ? 'any' : 'paid'),
        readsClicks: true,
        answers: { 200: Type.Union([Performance, RecordsPage]) },
      },
      schema: {
        tags: ['Links'],
        operationId: 'links.list',
        summary: 'List link performance or link records',
        description:
          'Without `view`, the response is a `LinkPerformance`: clicks, visitors, conversions and revenue of links in a window, most revenue first. It needs a paid plan. With `view=records`, the response is a `LinkRecordsPage`: link records, newest first, on any plan. Pass `next_cursor` as `cursor` until it is null. Only a `LinkPerformance` has `window`; only a `LinkRecordsPage` has `next_cursor`. A parameter of the other view is a 400.',
        querystring: ListQuery,
      },
      preValidation: async ({ query }) => {
        // With `ids`, `limit` has no effect, so it is not validated.
        if (query.ids !== undefined) (query as Partial<Query>).limit = undefined;
      },
    },
    async ({ auth, query, clickhouse }) => {
      const { workspace } = auth;
      refuseOtherView(query);
      if (query.view !== 'records') return linkPerformance({ ...deps, clickhouse }, auth, query);
      const ids = query.ids === undefined ? null : readIdList('ids', query.ids);
      const limit = ids ? ids.length : query.limit;
      const links = await listLinks(pool, workspace.id, {
        ids,
        channel: query.channel === undefined ? null : filterChannel(query.channel),
        domain: query.domain ?? null,
        destinationId: query.destination_id ?? null,
        slugPart: query.slug ?? null,
        externalId: query.external_id ?? null,
        before: readCursor(query.cursor),
        withArchived:
          query.archived === 'include' ||
          [query.ids, query.slug, query.external_id].some((name) => name !== undefined),
        limit: limit + 1,
      });
      const page = cutPage(links, limit);
      return { links: page.rows.map((link) => toRecord(link, shortUrl)), next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/links/:id',
    {
      config: { scope: 'secret', plan: 'paid' },
      schema: {
        tags: ['Links'],
        operationId: 'links.get',
        summary: 'Get a link',
        params: IdParams,
        response: { 200: LinkRecord },
      },
    },
    async ({ auth, params }) => {
      const link = await linkById(pool, auth.workspace.id, params.id);
      if (!link) throw noSuchLink();
      return toRecord(link, shortUrl);
    },
  );

  app.patch(
    '/links/:id',
    {
      config: {
        scope: 'secret',
        plan: 'paid',
        errors: ['conflict'],
        checksAll: true,
        partialLists: ['rules', 'split'],
        checkRest: (body: ChangeBody) =>
          void checkChange(body, { shortUrl, blockedDomains: deps.blockedDomains }),
      },
      schema: {
        tags: ['Links'],
        operationId: 'links.update',
        summary: 'Update a link or its campaign',
        description:
          "Send any subset of the fields; `null` clears a field. `destination_url`, `name`, `tags` and `folder_id` belong to the campaign and change for all its links. A replaced slug stays reserved for the link. A campaign's second link on a channel must keep an `external_id` (409). The slug of a program's own link is its code. Links of a program's campaign cannot lead to a URL with `ref` or `_vid` in its query.",
        params: IdParams,
        body: ChangeBody,
        response: { 200: LinkRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const change = await readChangeRequest(body, { shortUrl, blockedDomains: deps.blockedDomains });
      const link = await app.workspaceQueue(auth.workspace.id, () =>
        inTransaction(pool, async (tx) => {
          const changed = await changeLink(tx, auth.workspace.id, params.id, change);
          await request.audit(tx);
          return changed;
        }),
      );
      return toRecord(link, shortUrl);
    },
  );

  app.delete(
    '/links/:id',
    {
      config: { scope: 'secret', plan: 'any', errors: ['conflict'] },
      schema: {
        tags: ['Links'],
        operationId: 'links.delete',
        summary: 'Delete a link',
        description:
          "The link stops redirecting immediately and disappears from every links endpoint. Its slug stays reserved. Its place under the cap and its `external_id` become free. Its clicks stay in channels, clicks and journeys; the clicks of a bio button's link stay until the button is removed. The link of a program's code cannot be deleted (409).",
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) => {
      await inTransaction(pool, async (tx) => {
        await removeLink(tx, request.auth.workspace.id, request.params.id);
        await request.audit(tx);
      });
      return { ok: true as const };
    },
  );
}

/** Parameters of one view of `GET /links`. */
const OF_RECORDS = ['cursor', 'channel', 'domain', 'destination_id', 'slug', 'external_id'] as const;
const OF_PERFORMANCE = ['days', 'from', 'to', 'include'] as const;

/**
 * Refuses a filter of the other view, which would otherwise be ignored and return all links.
 *
 * @throws {AppError} `bad_request` that names a parameter of the other view
 */
function refuseOtherView(query: Query): void {
  const isRecords = query.view === 'records';
  const others: readonly (keyof Query)[] = isRecords ? OF_PERFORMANCE : OF_RECORDS;
  const name = others.find((one) => query[one] !== undefined);
  if (name === undefined) return;
  throw badRequest(
    name,
    isRecords ? 'is not a parameter of view=records' : 'is a parameter of view=records only',
  );
}
