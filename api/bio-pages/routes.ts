import { Type } from 'typebox';
import { badRequest } from '../../core/errors.ts';
import { bioSlugProblem, normaliseBioSlug } from '../../core/links/slugs.ts';
import { type BioPage, findBioPage, isBioSlugFree, listBioPages } from '../../sql/bio/pages.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { Ok } from '../schemas.ts';
import { readBioSlug, readPageRequest } from './page-request.ts';
import { previewPage, previewPolicy } from './preview.ts';
import { toRecord, toRecords } from './record.ts';
import {
  Availability,
  AvailabilityQuery,
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
  description: 'HTML, as the public page would be.',
  content: { 'text/html': { schema: { type: 'string' } } },
};

/** Link-in-bio pages, whose buttons are tracked links. Any plan; stats need a paid one. */
export async function bioPageRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const rules = { shortUrl: config.shortUrl, log: deps.log };

  async function showPage(page: BioPage): Promise<BioPageRecord> {
    const [record] = await toRecords(pool, page.workspace_id, [page], config);
    return record as BioPageRecord;
  }

  app.post(
    '/bio-pages',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'createBioPage',
        summary: 'Create a bio page',
        description: CREATE_DESCRIPTION,
        body: CreateBody,
        response: {
          201: { description: 'The page.', ...BioPageRecord },
          200: {
            description: 'The page that has this `external_id`: nothing was changed.',
            ...BioPageRecord,
          },
        },
      },
    },
    async (request, reply) => {
      const { slug, external_id = null, ...body } = request.body;
      const wanted = { ...readPageRequest(body), slug: readBioSlug(slug), external_id };
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
        operationId: 'listBioPages',
        summary: 'List bio pages, newest first',
        description: 'Every page of the workspace; `made_in` tells which were made in the console.',
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
      config: { ...CONFIG, answers: { 200: Type.Union([Availability, BioPageRecord]) } },
      schema: {
        tags,
        operationId: 'checkBioSlug',
        summary: 'Whether a slug is free',
        description:
          'The slug is normalised first. One of a page that the workspace has deleted is free for it, and for nobody else. Without `slug`: the page whose own slug is `availability`, if there is one, else 400.',
        querystring: AvailabilityQuery,
      },
    },
    async ({ auth, query }): Promise<Availability | BioPageRecord> => {
      if (query.slug === undefined) {
        // A page may be called as this question is.
        const { workspaceId, madeIn } = shelfOf(auth);
        const page = await findBioPage(pool, workspaceId, { id: null, slug: 'availability', madeIn });
        if (!page) throw badRequest('slug', 'is required');
        return showPage(page);
      }
      const slug = normaliseBioSlug(query.slug);
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
        operationId: 'previewBioPage',
        summary: 'A page as visitors would see it, without saving it',
        description:
          'The HTML of the public page. Nothing is kept; buttons lead straight to their URLs, since they have no short links here.',
        body: PreviewBody,
      },
    },
    async ({ body }, reply) => {
      const { html, policy } = previewPage(body, config);
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
        operationId: 'getBioPage',
        summary: 'One bio page, by id or by slug',
        params: PageParams,
        response: { 200: BioPageRecord },
      },
    },
    async ({ auth, params }) => showPage(await requirePage(pool, shelfOf(auth), params.id)),
  );

  app.patch(
    '/bio-pages/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'updateBioPage',
        summary: 'Change a bio page',
        description: CHANGE_DESCRIPTION,
        params: PageParams,
        body: ChangeBody,
        response: { 200: BioPageRecord },
      },
    },
    async ({ auth, params, body, server }) => {
      const wanted = readPageRequest(body);
      const { id } = auth.workspace;
      const saved = await server.workspaceTurns(id, () =>
        inTransaction(pool, (tx) => changePage(tx, shelfOf(auth), params.id, wanted, rules)),
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
        operationId: 'deleteBioPage',
        summary: "Delete a bio page and its buttons' short links",
        description: `The page answers 404 at once, and so do its buttons' short links; the click history of its buttons leaves every answer at once and the store within a day. The slug stays reserved for the workspace.`,
        params: PageParams,
        response: { 200: Ok },
      },
    },
    async ({ auth, params, server }) => {
      const { id } = auth.workspace;
      const removed = await server.workspaceTurns(id, () =>
        inTransaction(pool, (tx) => removePage(tx, shelfOf(auth), params.id)),
      );
      await hideHistory(deps, id, removed);
      return { ok: true as const };
    },
  );

  app.get(
    '/bio-pages/:id/stats',
    {
      config: { ...CONFIG, plan: 'paid', readsClicks: true },
      schema: {
        tags,
        operationId: 'getBioPageStats',
        summary: 'What each button brought',
        description:
          'Clicks on tracked buttons in the window, without bots, and what they led to: on all short links that a button had, deleted ones too. Views of the page are not counted. Needs a paid plan.',
        params: PageParams,
        querystring: StatsQuery,
        response: { 200: Stats },
      },
    },
    async ({ auth, params, query }) => pageStats(deps, auth, params.id, query),
  );
}

const CREATE_DESCRIPTION = `The page is public at \`url\` within a second, in any spelling of the slug.

- \`slug\` is normalised (spaces to hyphens, capitals to small letters) and fixed from then on: 400 when reserved, 409
  when another page, a short link or a programme has it.
- Each button of type \`link\` gets a short link on the channel \`bio\`, which counts towards the plan's cap of links.
  Where none can be made (the cap is reached, or the URL leads to a short link of this service) the button is saved
  and leads straight to its URL, with \`tracked_link_id\` and \`short_url\` null; saving the page again tries again.
- Button URLs are \`http(s)\` to any site, up to 2,048 characters, without credentials; images up to 1,024.
- A page made here with a key never appears in the console's own builder, and has no custom domain.`;

const CHANGE_DESCRIPTION = `Any subset of the fields; \`slug\` and \`external_id\` are ignored, so a page may be sent
back as it was read. \`null\` clears \`avatar_url\` and \`metadata\`.

\`links\` replaces the whole list. A button keeps its short link and history while its \`id\` stays, also with another
\`url\` or \`label\`. One that is left out, or becomes a section, is removed with its short link and click history:
that leaves every answer at once and the store within a day. One that moves to a short link of this service leads
straight there, and its own short link answers 404; when it moves away again it has the same one back. Where the short
link was deleted by \`DELETE /links/:id\`, saving makes another. The history of all of them is the button's.`;
