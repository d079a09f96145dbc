import { PICTURE_TYPES, type PictureFormat } from '../../core/bio/pictures.ts';
import { isUuid } from '../../core/ids.ts';
import { pictureContents } from '../../sql/bio/pictures.ts';
import { assetPicture } from '../../sql/portal/assets.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { portalOf } from './portal-of.ts';
import { affiliateOf, portalCookies } from './session.ts';

/** Serves the images of a program to its signed-in affiliates alone. */
export async function portalAssetFiles(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const cookies = portalCookies(config.appUrl);

  app.get<{ Params: { code: string; id: string } }>(
    '/p/:code/assets/:id',
    { schema: { hide: true }, config: { page: true } },
    async (request, reply) => {
      const { code, id } = request.params;
      const of = isUuid(id) ? await portalOf(pool, code) : null;
      const affiliate = of && (await affiliateOf(pool, cookies, request));
      const isOwn = affiliate?.programs.some(({ program_id }) => program_id === of?.program.id);
      const picture = of && isOwn ? await assetPicture(pool, of.program.id, id) : null;
      if (!picture) return reply.callNotFound();
      const etag = `"${picture.name}"`;
      // A browser asks each time: somebody else may be signed in by then.
      reply.header('cache-control', 'private, no-cache').header('etag', etag).header('vary', 'Cookie');
      if (request.headers['if-none-match'] === etag) return reply.status(304).send();
      const content = (await pictureContents(pool, [picture.name])).get(picture.name);
      if (!content) return reply.callNotFound();
      return reply
        .header('content-type', PICTURE_TYPES[picture.format])
        .header('content-disposition', attachmentOf(picture.asset, picture.format))
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('cross-origin-resource-policy', 'same-origin')
        .header('x-content-type-options', 'nosniff')
        .header('x-robots-tag', 'noindex')
        .send(content);
    },
  );
}

/** Returns the header that saves a picture under the name of its asset (RFC 6266, RFC 8187). */
function attachmentOf(asset: string, format: PictureFormat): string {
  const name = asset.replaceAll(/[^\p{L}\p{N}\p{M} ._-]+/gu, '-').replace(/^[ .]+/, '') || 'picture';
  const whole = `${name}.${format}`;
  const plain = whole.replaceAll(/[^A-Za-z0-9 ._-]/g, '_');
  const encoded = encodeURIComponent(whole);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
