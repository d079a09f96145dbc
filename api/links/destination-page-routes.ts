import { Type } from 'typebox';
import { AppError } from '../../core/errors.ts';
import {
  destinationIcon,
  destinationPages,
  wantDestinationPages,
} from '../../sql/links/destination-pages.ts';
import { namedLinksByIds } from '../../sql/links/links.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { readIdList } from '../id-lists.ts';
import { IdParams, LinkIds, Nullable, Uuid } from '../schemas.ts';

const MEMBER = { scope: 'member', plan: 'any', role: 'analyst', console: true } as const;
const tags = ['Service'];

const PagesQuery = Type.Object({ ids: LinkIds('Links, at most 500 ids, separated by commas.') });

const DestinationPage = Type.Object(
  {
    link_id: Uuid,
    title: Nullable(Type.String({ description: 'Title of the page, as its site has it.' })),
    icon_id: Nullable(Uuid),
  },
  { title: 'DestinationPage' },
);

const DestinationPages = Type.Object(
  {
    pages: Type.Array(DestinationPage, { description: 'Of links whose destination was fetched.' }),
    pending: Type.Boolean({ description: 'Whether more are being fetched; they take seconds.' }),
  },
  { title: 'DestinationPages' },
);

const ICON_ANSWER = {
  description: 'The image.',
  content: Object.fromEntries(
    ['image/png', 'image/gif', 'image/x-icon'].map((type) => [type, { schema: { type: 'string' } }]),
  ),
};

/** An icon never changes: another one has another id. Seconds. */
const FOREVER = 31_536_000;

/** Registers the routes of titles and icons of destinations, which workers fetch for the console. */
export async function destinationPageRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  app.get(
    '/links/destination-pages',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'links.listDestinationPages',
        summary: 'List titles and icons of destinations',
        description:
          'Destinations that are not known are fetched afterwards, and those that were fetched more than a week ago again. Nothing is listed or fetched with `FETCH_DESTINATIONS=off`.',
        querystring: PagesQuery,
        response: { 200: DestinationPages },
      },
    },
    async ({ auth: { workspace }, query }) => {
      const ids = readIdList('ids', query.ids);
      if (config.fetchDestinations === 'off') return { pages: [], pending: false };
      const links = await namedLinksByIds(pool, workspace.id, ids);
      const urls = [...new Set(links.map((link) => link.destination_url))].filter((url) =>
        /^https?:/i.test(url),
      );
      const known = new Map(
        (await destinationPages(pool, workspace.id, urls)).map((page) => [page.url, page]),
      );
      await wantDestinationPages(pool, workspace.id, urls);
      return {
        pages: links.flatMap(({ id, destination_url }) => {
          const page = known.get(destination_url);
          if (!page || page.isPending) return [];
          return [{ link_id: id, title: page.title, icon_id: page.iconId }];
        }),
        pending: urls.some((url) => known.get(url)?.isPending ?? true),
      };
    },
  );

  app.get(
    '/links/destination-icons/:id',
    {
      config: { ...MEMBER, answers: { 200: ICON_ANSWER } },
      schema: {
        tags,
        operationId: 'links.getDestinationIcon',
        summary: "Get a destination's icon",
        params: IdParams,
      },
    },
    async ({ auth, params }, reply) => {
      const icon = await destinationIcon(pool, auth.workspace.id, params.id);
      if (!icon) throw new AppError('not_found', 'the workspace has no such icon');
      // Another site made the image: a browser shows it as this type only, and runs nothing of it.
      return reply
        .header('cache-control', `private, max-age=${FOREVER}, immutable`)
        .header('x-content-type-options', 'nosniff')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .type(icon.type)
        .send(icon.image);
    },
  );
}
