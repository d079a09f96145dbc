import type { Static } from 'typebox';
import { badRequest } from '../../core/errors.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import { qrModules } from '../../core/qr/code.ts';
import { readColor, requireContrast } from '../../core/qr/colors.ts';
import { requireFrameMargin } from '../../core/qr/frames.ts';
import { LOGO_LEVELS, type QrLevel, type QrModules, qrAddress } from '../../core/qr/layout.ts';
import { logoUrl } from '../../core/qr/logo.ts';
import { placed, qrPng } from '../../core/qr/png.ts';
import { type QrLook, qrSvg } from '../../core/qr/svg.ts';
import { frameWords } from '../../core/qr/words.ts';
import { linkById } from '../../sql/links/links.ts';
import { type LinkQrStyle, linkQrStyle } from '../../sql/links/qr-styles.ts';
import { workspaceLogo } from '../../sql/workspaces/logos.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { IdParams } from '../schemas.ts';
import { noSuchLink } from './change.ts';
import { PLAIN_STYLE, QrQuery } from './qr-schemas.ts';
import { requireWorkspaceLogo } from './qr-style.ts';

/** Minimum width of a module in pixels, for cameras and decoders. A curve of fewer pixels is a gray square. */
const LEAST_SCALE = { square: 2, rounded: 4, dots: 4 };

type Query = Static<typeof QrQuery>;

const QR_ANSWER = {
  description: 'The image.',
  content: {
    'image/svg+xml': { schema: { type: 'string' } },
    'image/png': { schema: { type: 'string' } },
  },
};

/** Registers `GET /links/:id/qr`. */
export async function linkQrRoute(app: Api, { pool, config }: ApiDeps): Promise<void> {
  /** A stored `workspace` draws nothing once the workspace has no logo; a parameter that asks for it is refused. */
  async function logoOf(
    workspaceId: string,
    style: LinkQrStyle,
    asked: Query['logo'],
  ): Promise<Buffer | null> {
    if (asked === '0' || (asked === undefined && style.logo_from === 'none')) return null;
    if (style.logo) return style.logo;
    return asked === '1' ? requireWorkspaceLogo(pool, workspaceId, '0') : workspaceLogo(pool, workspaceId);
  }

  app.get(
    '/links/:id/qr',
    {
      config: {
        scope: 'secret',
        plan: 'paid',
        answers: { 200: QR_ANSWER },
        responseHeaders: ['QuietZone'],
      },
      schema: {
        tags: ['Links'],
        operationId: 'links.getQr',
        summary: "Get a link's QR code",
        description:
          "The code leads to the short URL with `?qr=1`, which is not passed on to the destination and makes the click's `trigger` `qr`. It looks as `PATCH /links/{id}/qr/style` has set it, or plain: black squares on white. Parameters take its place for this image.",
        params: IdParams,
        querystring: QrQuery,
      },
    },
    async ({ auth, params, query }, reply) => {
      const link = await linkById(pool, auth.workspace.id, params.id);
      if (!link) throw noSuchLink();
      const style = (await linkQrStyle(pool, auth.workspace.id, params.id)) ?? PLAIN_STYLE;
      const look = readLook(query, style);
      const logo = await logoOf(auth.workspace.id, style, query.logo);
      const address = qrAddress(shortUrlOf(config.shortUrl, link));
      const modules = qrModules(address, readLevel(query, logo !== null));
      requireRoom(modules, look);
      reply.header('cache-control', 'no-store');
      if (query.format === 'png') {
        reply.header('x-quiet-zone', placed(modules, look).quiet);
        return reply.type('image/png').send(await qrPng(modules, look, logo));
      }
      const svg = qrSvg(modules, look, `QR code that leads to ${address}`, logo && logoUrl(logo));
      // The image may not run or load anything when a browser opens it as a page.
      return reply
        .header('content-security-policy', "default-src 'none'; img-src data:")
        .type('image/svg+xml')
        .send(svg);
    },
  );
}

/** @throws {AppError} `bad_request` that names the parameter at fault */
function readLook(query: Query, style: LinkQrStyle): QrLook {
  const { size, margin } = query;
  const { color, background, shape, frame, frame_text } = {
    color: query.color ?? style.color,
    background: query.background ?? style.background,
    shape: query.shape ?? style.shape,
    frame: query.frame ?? style.frame,
    frame_text: query.frame_text ?? style.frame_text,
  };
  const colors = { color: readColor('color', color), background: readColor('background', background) };
  requireContrast(query.color === undefined ? 'background' : 'color', colors.color, colors.background);
  requireFrameMargin(frame, margin);
  const words = frame === 'none' && query.frame_text === undefined ? null : frameWords(frame_text);
  return {
    size,
    margin,
    shape,
    ...colors,
    frame: frame === 'none' || !words ? null : { kind: frame, words },
  };
}

/** @throws {AppError} `bad_request` for a level that does not allow the logo */
function readLevel({ level }: Query, hasLogo: boolean): QrLevel {
  if (!hasLogo) return level ?? 'M';
  if (level !== undefined && !LOGO_LEVELS.includes(level)) {
    throw badRequest('level', `must be ${LOGO_LEVELS.join(' or ')} with a logo`);
  }
  return level ?? 'H';
}

/** @throws {AppError} `bad_request` when modules would be too small to scan */
function requireRoom(modules: QrModules, look: QrLook): void {
  const { size, shape = 'square', frame } = look;
  const least = LEAST_SCALE[shape] * placed(modules, look).width;
  if (size >= least) return;
  throw badRequest(
    'size',
    `must be at least ${least} for this address, margin, ${frame ? 'shape, and frame' : 'and shape'}`,
  );
}
