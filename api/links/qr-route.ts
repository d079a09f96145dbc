import { type Static, Type } from 'typebox';
import { badRequest } from '../../core/errors.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import { qrModules } from '../../core/qr/code.ts';
import { LEAST_CONTRAST, readColor, requireContrast } from '../../core/qr/colors.ts';
import {
  LOGO_LEVELS,
  QR_LEVELS,
  QR_SHAPES,
  type QrLevel,
  type QrModules,
  QUIET_ZONE,
  qrAddress,
} from '../../core/qr/layout.ts';
import { logoUrl } from '../../core/qr/logo.ts';
import { placed, qrPng } from '../../core/qr/png.ts';
import { type QrLook, qrSvg } from '../../core/qr/svg.ts';
import { linkById } from '../../sql/links/links.ts';
import { workspaceLogo } from '../../sql/workspaces/logos.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { IdParams, OneOf } from '../schemas.ts';
import { noSuchLink } from './change.ts';

/** Width of an image, in pixels. */
const SIZE = { least: 64, most: 2_048, usual: 512 };
const MOST_MARGIN = 16;
/** Minimum width of a module in pixels, for cameras and decoders. A curve of fewer pixels is a gray square. */
const LEAST_SCALE = { square: 2, rounded: 4, dots: 4 };

const Color = (description: string, usual: string) =>
  Type.String({ minLength: 6, maxLength: 7, default: usual, description });

const QrQuery = Type.Object({
  format: { ...OneOf(['svg', 'png']), default: 'svg' },
  size: Type.Integer({
    minimum: SIZE.least,
    maximum: SIZE.most,
    default: SIZE.usual,
    description:
      'Width and height in pixels. Each module needs two, and four with another `shape` than `square`.',
  }),
  margin: Type.Integer({
    minimum: 0,
    maximum: MOST_MARGIN,
    default: QUIET_ZONE,
    description:
      'Width of the quiet zone in modules; scanners expect four. Modules of a PNG are whole pixels, and what is left of its size widens the quiet zone: `x-quiet-zone` says its width.',
  }),
  level: Type.Optional(
    OneOf(QR_LEVELS, {
      description: 'Error correction. Default `M`; with a logo `H`, and at least `Q`.',
    }),
  ),
  color: Color(
    `Color of the code, six hexadecimal digits, darker than the background. The contrast must be at least ${LEAST_CONTRAST} to 1.`,
    '000000',
  ),
  background: Color('Color behind the code, six hexadecimal digits.', 'ffffff'),
  shape: {
    ...OneOf(QR_SHAPES, {
      description:
        'Shape of the modules. Finder and alignment patterns stay whole, so that scanners find the code.',
    }),
    default: 'square',
  },
  logo: {
    ...OneOf(['0', '1'], { description: "`1`: the workspace's logo in the middle." }),
    default: '0',
  },
});
type QrQuery = Static<typeof QrQuery>;

const QR_ANSWER = {
  description: 'The image.',
  content: {
    'image/svg+xml': { schema: { type: 'string' } },
    'image/png': { schema: { type: 'string' } },
  },
};

/** Registers `GET /links/:id/qr`. */
export async function linkQrRoute(app: Api, { pool, config }: ApiDeps): Promise<void> {
  async function logoOf(workspaceId: string): Promise<Buffer> {
    const logo = await workspaceLogo(pool, workspaceId);
    if (logo) return logo;
    throw badRequest('logo', 'must be 0: the workspace has no logo; set one with PATCH /api/v1/workspace');
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
          "The code leads to the short URL with `?qr=1`, which is not passed on to the destination and makes the click's `trigger` `qr`.",
        params: IdParams,
        querystring: QrQuery,
      },
    },
    async ({ auth, params, query }, reply) => {
      const look = readLook(query);
      const level = readLevel(query);
      const link = await linkById(pool, auth.workspace.id, params.id);
      if (!link) throw noSuchLink();
      const logo = query.logo === '1' ? await logoOf(auth.workspace.id) : null;
      const address = qrAddress(shortUrlOf(config.shortUrl, link));
      const modules = qrModules(address, level);
      requireRoom(modules, look);
      reply.header('cache-control', 'no-store');
      if (query.format === 'png') {
        reply.header('x-quiet-zone', placed(modules, look).start);
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

/** @throws {AppError} `bad_request` that names the color at fault */
function readLook({ size, margin, shape, color, background }: QrQuery): QrLook {
  const look = {
    size,
    margin,
    shape,
    color: readColor('color', color),
    background: readColor('background', background),
  };
  requireContrast(color === '000000' ? 'background' : 'color', look.color, look.background);
  return look;
}

/** @throws {AppError} `bad_request` for a level that does not allow the logo */
function readLevel({ level, logo }: QrQuery): QrLevel {
  if (logo === '0') return level ?? 'M';
  if (level !== undefined && !LOGO_LEVELS.includes(level)) {
    throw badRequest('level', `must be ${LOGO_LEVELS.join(' or ')} with a logo`);
  }
  return level ?? 'H';
}

/** @throws {AppError} `bad_request` when modules would be too small to scan */
function requireRoom(modules: QrModules, { size, margin, shape = 'square' }: QrLook): void {
  const least = LEAST_SCALE[shape] * (modules.length + 2 * margin);
  if (size < least) throw badRequest('size', `must be at least ${least} for this address, margin, and shape`);
}
