import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { picturePath } from '../../../core/bio/pictures.ts';
import { AppError, badRequest } from '../../../core/errors.ts';
import { storePicture } from '../../../sql/bio/pictures.ts';
import { inTransaction } from '../../../sql/database/pool.ts';
import { lockWorkspace } from '../../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { Url } from '../../schemas.ts';
import { createPictureEncoder } from './encode.ts';

const MIB = 1_048_576;

const pictureBody = (mib: number) =>
  Type.String({
    format: 'binary',
    description: `The picture's bytes: JPEG, PNG, WebP, GIF, or AVIF, at most ${mib} MiB. Its content decides, not \`Content-Type\`.`,
  });

const PictureRecord = Type.Object(
  {
    url: Url,
    width: Type.Integer({ description: 'Pixels.' }),
    height: Type.Integer({ description: 'Pixels.' }),
    bytes: Type.Integer({ description: 'Bytes of the stored picture.' }),
  },
  { title: 'BioPicture' },
);

/** The places where pictures are uploaded. Their pictures are the same. `mib`: the limit of a sent one. */
const UPLOADS = [
  {
    path: '/bio-pages/pictures',
    mib: 5,
    plan: 'any',
    tags: ['Bio pages'],
    operationId: 'bioPages.uploadPicture',
    summary: 'Upload a picture for bio pages',
    use: 'Use the `url` as `avatar_url` (with `width` and `height`), as `image_url` of a button, or as `canvasValue` or `footerImage` of the theme.',
  },
  {
    path: '/assets/pictures',
    mib: 10,
    plan: 'paid',
    tags: ['Assets'],
    operationId: 'assets.uploadPicture',
    summary: 'Upload a picture for an asset',
    use: 'Use the `url` as `image_url` of `POST /assets`.',
  },
] as const;

/** Registers the uploads of pictures. */
export async function pictureRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const { publicUrl, picturesPerWorkspaceBytes: most } = config;
  const encode = createPictureEncoder();

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => body);
    for (const { path, mib, plan, tags, operationId, summary, use } of UPLOADS) {
      (scope as Api).post(
        path,
        {
          bodyLimit: mib * MIB,
          config: {
            scope: 'secret',
            plan,
            errors: ['conflict', 'payload_too_large'],
            document: { body: pictureBody(mib) },
          },
          schema: {
            tags: [...tags],
            operationId,
            summary,
            description: `${ENCODED} ${use} ${KEPT}`,
            consumes: ['image/*'],
            response: {
              200: { ...PictureRecord, description: 'The workspace has this picture. Nothing was changed.' },
              201: { ...PictureRecord, description: 'The stored picture.' },
            },
          },
        },
        async ({ auth, body }, reply) => {
          const sent: unknown = body;
          if (!Buffer.isBuffer(sent) || sent.length === 0) {
            throw badRequest('body', 'must be the bytes of a picture');
          }
          const picture = await encode(sent);
          const workspaceId = auth.workspace.id;
          const stored = await inTransaction(pool, async (tx) => {
            await lockWorkspace(tx, workspaceId);
            return storePicture(tx, workspaceId, picture, most);
          });
          if ('used' in stored) throw noRoom(stored.used, picture.content.length, most);
          const { width, height, content } = picture;
          return reply
            .code(stored.isNew ? 201 : 200)
            .send({ url: `${publicUrl}${picturePath(stored.name)}`, width, height, bytes: content.length });
        },
      );
    }
  });
}

function noRoom(used: number, more: number, most: number): AppError {
  const message =
    `takes ${inMiB(more)} MiB, and pictures of the workspace take ${inMiB(used)} of ${inMiB(most)} MiB; ` +
    'those that no page and no asset uses are deleted after a day';
  return new AppError('conflict', `\`body\` ${message}`, [{ path: 'body', message }]);
}

const inMiB = (bytes: number) => (bytes / MIB).toFixed(1);

const ENCODED =
  'Send the bytes of the picture as the body. It is turned upright, scaled to at most 1,600 pixels a side, and encoded again without metadata, as JPEG, or as WebP if it may be transparent.';
const KEPT = 'The same picture has one `url`. One that no bio page and no asset uses for a day is deleted.';
