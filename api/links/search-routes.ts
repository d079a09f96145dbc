import { tagsInUse } from '../../sql/links/link-search.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { findLinks } from './search.ts';
import { FoundLinks, type SearchQuery as Query, SearchQuery, Tags } from './search-schemas.ts';

const TAGS_SHOWN = 500;

/** Registers `GET /links/search`, and `GET /links/tags` for its filter. */
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
        operationId: 'links.search',
        summary: 'Search, filter and sort links',
        description:
          'Every link of the workspace that matches the filters, including links without activity in the window. Pages are counted by `offset`: a link that is created, deleted or clicked between two calls can move to another page. To read all links without gaps, use `GET /links?view=records`.',
        querystring: SearchQuery,
        response: { 200: FoundLinks },
      },
    },
    async ({ auth, query, clickhouse }) => findLinks({ ...deps, clickhouse }, auth, query),
  );

  app.get(
    '/links/tags',
    {
      config: { scope: 'secret', plan: 'any' },
      schema: {
        tags: ['Links'],
        operationId: 'links.listTags',
        summary: 'List the tags of links',
        response: { 200: Tags },
      },
    },
    async ({ auth }) => ({ tags: await tagsInUse(deps.pool, auth.workspace.id, TAGS_SHOWN) }),
  );
}
