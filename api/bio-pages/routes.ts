import { badRequest } from '../../core/errors.ts';
import { bioSlugProblem, normalizeBioSlug } from '../../core/links/slugs.ts';
import { type BioPage, findBioPage, isBioSlugFree, listBioPages } from '../../sql/bio/pages.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { Ok } from '../schemas.ts';
import { readNewPage, readPageRequest } from './page-request.ts';
import { pictureRoutes } from './pictures/routes.ts';
import { previewPage, previewPolicy } from './preview.ts';
import { toRecord, toRecords } from './record.ts';
import {
  Availability,
  AvailabilityQuery,
  AvailabilityQueryShown,
  BioPageList,
  BioPageRecord,
  ChangeBody,
  CreateBody,
  ListQuery,
  PageParams,
  PreviewBody,
  Stats,
  StatsQuery,
} from './schemas.ts';
import { changePage, createPage, hideHistory, removePage, requirePage, shelfOf } from './service.ts';
import { pageStats } from './stats.ts';

const CONFIG = { scope: 'secret', plan: 'any' } as const;
const tags = ['Bio pages'];

const PREVIEW_ANSWER = {
  description: 'The HTML of the public page.',
  content: { 'text/html': { schema: { type: 'string' } } },
};

/** Registers the bio page routes; a page's buttons are tracked links. Any plan; stats require a paid one. */
export async function bioPageRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const origins = { shortUrl: config.shortUrl, publicUrl: config.publicUrl };
  const rules = { ...origins, blockedDomains: deps.blockedDomains, log: deps.log };

  await pictureRoutes(app, deps);

  async function showPage(page: BioPage): Promise<BioPageRecord> {
    const [record] = await toRecords(pool, page.workspace_id, [page], config);
    return record as BioPageRecord;
  }

  app.post(
    '/bio-pages',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['conflict'],
        checksAll: true,
        checkRest: (body: Partial<CreateBody>) => void readNewPage({ ...body, slug: body.slug }, rules),
      },
      schema: {
        tags,
        operationId: 'bioPages.create',
        summary: 'Create a bio page',
        description: CREATE_DESCRIPTION,
        body: CreateBody,
        response: {
          201: { ...BioPageRecord, description: 'The created page.' },
          200: {
            ...BioPageRecord,
            description: 'A page with this `external_id` exists. Nothing was changed.',
          },
        },
      },
    },
    async (request, reply) => {
      const { slug, external_id = null, ...body } = request.body;
      const wanted = { ...readNewPage({ ...body, slug }, rules), external_id };
      return withIdempotency(pool, request, reply, async (tx) => {
        const saved = await createPage(tx, shelfOf(request.auth), wanted, rules);
        return { status: saved.made ? 201 : 200, body: toRecord(saved.page, saved.buttons, config) };
      });
    },
  );

  app.get(
    '/bio-pages',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'bioPages.list',
        summary: 'List bio pages, newest first',
        description: 'Every page of the workspace. `made_in` names the pages created in the console.',
        querystring: ListQuery,
        response: { 200: BioPageList },
      },
    },
    async ({ auth, query: { limit, cursor, external_id } }) => {
      const { workspaceId, madeIn } = shelfOf(auth);
      const pages = await listBioPages(pool, workspaceId, {
        before: readCursor(cursor),
        externalId: external_id ?? null,
        madeIn,
        limit: limit + 1,
      });
      const { rows, nextCursor } = cutPage(pages, limit);
      return { bio_pages: await toRecords(pool, workspaceId, rows, config), next_cursor: nextCursor };
    },
  );

  app.get(
    '/bio-pages/availability',
    {
      config: {
        ...CONFIG,
        answers: { 200: Availability },
        document: { querystring: AvailabilityQueryShown },
      },
      schema: {
        tags,
        operationId: 'bioPages.checkAvailability',
        summary: 'Check whether a slug is available',
        description:
          'The slug is normalized first. The slug of a deleted page is available to its own workspace only. Without `slug`, the request is for the page whose slug is `availability`, like `GET /bio-pages/{id}`.',
        querystring: AvailabilityQuery,
      },
    },
    async ({ auth, query }): Promise<Availability | BioPageRecord> => {
      if (query.slug === undefined) {
        // The last segment of this path may be a page's slug.
        const { workspaceId, madeIn } = shelfOf(auth);
        const page = await findBioPage(pool, workspaceId, { id: null, slug: 'availability', madeIn });
        if (!page) throw badRequest('slug', 'is required');
        return showPage(page);
      }
      const slug = normalizeBioSlug(query.slug);
      const problem = bioSlugProblem(slug);
      const taken = problem === null && !(await isBioSlugFree(pool, auth.workspace.id, slug));
      const reason = problem ?? (taken ? ('taken' as const) : null);
      return { slug, available: reason === null, reason };
    },
  );

  app.post(
    '/bio-pages/preview',
    {
      config: {
        ...CONFIG,
        role: 'analyst',
        answers: { 200: PREVIEW_ANSWER },
      },
      schema: {
        tags,
        operationId: 'bioPages.preview',
        summary: 'Preview a bio page without saving it',
        description:
          'Responds with the HTML of the public page. Nothing is saved. Buttons lead directly to their URLs, without short links.',
        body: PreviewBody,
      },
    },
    async ({ auth, body }, reply) => {
      const { html, policy } = previewPage(body, config, auth.workspace.language);
      return reply
        .header('cache-control', 'no-store')
        .header('content-security-policy', previewPolicy(policy))
        .header('x-content-type-options', 'nosniff')
        .header('referrer-policy', 'no-referrer')
        .type('text/html; charset=utf-8')
        .send(html);
    },
  );

  app.get(
    '/bio-pages/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'bioPages.get',
        summary: 'Get a bio page by id or slug',
        params: PageParams,
        response: { 200: BioPageRecord },
      },
    },
    async ({ auth, params }) => showPage(await requirePage(pool, shelfOf(auth), params.id)),
  );

  app.patch(
    '/bio-pages/:id',
    {
      config: {
        ...CONFIG,
        checksAll: true,
        checkRest: (body: ChangeBody) => void readPageRequest(body, rules),
      },
      schema: {
        tags,
        operationId: 'bioPages.update',
        summary: 'Update a bio page',
        description: CHANGE_DESCRIPTION,
        params: PageParams,
        body: ChangeBody,
        response: { 200: BioPageRecord },
      },
    },
    async (request) => {
      const { auth, params, body, server } = request;
      const wanted = readPageRequest(body, rules);
      const { id } = auth.workspace;
      const saved = await server.workspaceQueue(id, () =>
        inTransaction(pool, async (tx) => {
          const saved = await changePage(tx, shelfOf(auth), params.id, wanted, rules);
          await request.audit(tx, { targetId: saved.page.id });
          return saved;
        }),
      );
      await hideHistory(deps, id, saved.removed);
      return toRecord(saved.page, saved.buttons, config);
    },
  );

  app.delete(
    '/bio-pages/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'bioPages.delete',
        summary: 'Delete a bio page and the short links of its buttons',
        description:
          'The page and the short links of its buttons respond with 404 immediately. The click history of the buttons disappears from every response immediately and from the database within a day. The slug stays reserved for the workspace.',
        params: PageParams,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { auth, params, server } = request;
      const { id } = auth.workspace;
      const removed = await server.workspaceQueue(id, () =>
        inTransaction(pool, async (tx) => {
          const removed = await removePage(tx, shelfOf(auth), params.id);
          await request.audit(tx, { targetId: removed.pageId });
          return removed;
        }),
      );
      await hideHistory(deps, id, removed.links);
      return { ok: true as const };
    },
  );

  app.get(
    '/bio-pages/:id/stats',
    {
      config: { ...CONFIG, plan: 'paid', readsClicks: true },
      schema: {
        tags,
        operationId: 'bioPages.getStats',
        summary: 'Get stats of the buttons of a bio page',
        description:
          'Clicks on tracked buttons in the window, without bots, and the resulting conversions and revenue. Includes all short links that a button ever had. Page views are not counted. Needs a paid plan.',
        params: PageParams,
        querystring: StatsQuery,
        response: { 200: Stats },
      },
    },
    async ({ auth, params, query, clickhouse }) => pageStats({ ...deps, clickhouse }, auth, params.id, query),
  );
}

const CREATE_DESCRIPTION = `The page is public at \`url\` within a second, in any spelling of the slug.

- \`slug\` is normalized (spaces to hyphens, capitals to lowercase) and cannot change later. A reserved slug is a 400; the
  slug of another page, a short link or a program is a 409.
- Each button of type \`link\` gets a short link on the channel \`bio\`, which counts toward the plan's cap of links.
  If no short link can be created (the cap is reached, or the URL leads to a short link of this service), the button
  leads directly to its URL, with \`tracked_link_id\` and \`short_url\` null. Saving the page again retries.
- Button URLs are \`http(s)\` to any site, up to 2,048 characters, without credentials; image URLs up to 1,024.
- A page created with a key never appears in the console's page builder, and cannot have a custom domain.`;

const CHANGE_DESCRIPTION = `Send any subset of the fields. \`slug\` and \`external_id\` are ignored, so you can send a page back as you read it.
\`null\` clears \`avatar_url\` and \`metadata\`.

\`links\` replaces the whole list. A button keeps its short link and history while its \`id\` is unchanged, even if \`url\` or
\`label\` change. A button that is left out, or becomes a section, is removed with its short link and click history: the
history disappears from every response immediately and from the database within a day. A button whose new URL leads to a
short link of this service links there directly, and its own short link responds with 404 until its URL changes again.
If the short link was deleted with \`DELETE /links/{id}\`, saving creates another one. The button keeps the history of all
its short links.`;
