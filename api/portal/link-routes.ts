import { AppError, badRequest } from '../../core/errors.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import { pathBelow } from '../../core/referrals/deep-links.ts';
import { deepLinkAddress } from '../../sql/referrals/referral-links.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { ownPage } from '../session/own-origin.ts';
import { portalOf } from './portal-of.ts';
import { DeepLinkBody, DeepLinkRecord } from './schemas.ts';
import { affiliateOf, portalCookies, requireOwn } from './session.ts';

/** Registers the links that affiliates make in the portal. */
export async function portalLinkRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const cookies = portalCookies(config.appUrl);

  app.post(
    '/portal/links',
    {
      onRequest: ownPage(config),
      config: {
        scope: 'public',
        plan: 'any',
        console: true,
        errors: ['forbidden', 'unauthorized', 'not_found'],
      },
      schema: {
        tags: ['Portal'],
        operationId: 'portal.getDeepLink',
        summary: 'Get the own link to a page',
        description:
          "The referral link with the path and query of a page below the program's `destination_url`: of the same host, without dot segments. A 404 when the program has no `deep_links`.",
        body: DeepLinkBody,
        response: { 200: DeepLinkRecord },
      },
    },
    async (request) => {
      const { code, url } = request.body;
      const found = await portalOf(pool, code);
      const { own } = requireOwn(await affiliateOf(pool, cookies, request), found?.program.id ?? null);
      const program = found?.program;
      const address = program?.portal.deep_links ? await deepLinkAddress(pool, own.enrollment_id) : null;
      if (!program || !address) throw new AppError('not_found', 'the program has no links to pages');
      const path = pathBelow(program.destination_url, url);
      if (path === null) throw badRequest('url', `must be a page below ${program.destination_url}`);
      return { url: shortUrlOf(config.shortUrl, address) + path };
    },
  );
}
