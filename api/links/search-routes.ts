import { tagsInUse } from '../../sql/links/link-search.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { findLinks } from './search.ts';
import { FoundLinks, type SearchQuery as Query, SearchQuery, Tags } from './search-schemas.ts';

const TAGS_SHOWN = 500;

/** `GET /links/search`, and `GET /links/tags` for its filter. */
export async function linkSearchRoutes(app: Api, deps: ApiDeps): Promise<void> {
  app.get(
    '/links/search',
    {
      config: {
        scope: 'secret',
        readsClicks: true,
        plan: ({ query }) => ((query as Partial<Query>).figures === 'exclude' ? 'any' : 'paid'),
      },
      schema: {
        tags: ['Links'],
        operationId: 'searchLinks',
        summary: 'Search, filter and sort links, page by page, with their figures',
        description:
          'Every link of the workspace that passes the filters, also without activity in the window. Pages are counted by `offset`: a link that is made, deleted or clicked between two calls may move to another page. To walk over all links without a gap use `GET /links?view=records`.',
        querystring: SearchQuery,
        response: { 200: FoundLinks },
      },
    },
    async ({ auth, query }) => findLinks(deps, auth, query),
  );

  app.get(
    '/links/tags',
    {
      config: { scope: 'secret', plan: 'any' },
      schema: {
        tags: ['Links'],
        operationId: 'listLinkTags',
        summary: "Tags of the workspace's links",
        response: { 200: Tags },
      },
    },
    async ({ auth }) => ({ tags: await tagsInUse(deps.pool, auth.workspace.id, TAGS_SHOWN) }),
  );
}
