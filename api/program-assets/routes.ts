import { picturePath } from '../../core/bio/pictures.ts';
import { AppError } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { deleteAsset, type ListedAsset, listAssets } from '../../sql/portal/assets.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPageAt } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { createAsset, readContent } from './create.ts';
import { AssetBody, AssetList, AssetQuery, AssetRecord } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Assets'];

/** Registers what a program gives its affiliates. Secret key, paid plan. */
export async function assetRoutes(app: Api, { pool, config, blockedDomains }: ApiDeps): Promise<void> {
  const { publicUrl } = config;
  const rules = { publicUrl, blockedDomains };

  app.get(
    '/assets',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'assets.list',
        summary: 'List assets of programs, newest first',
        description: 'Images, texts, and links that the portal shows to the affiliates of a program.',
        querystring: AssetQuery,
        response: { 200: AssetList },
      },
    },
    async ({ auth, query: { program_id, type, limit, cursor } }) => {
      const listed = await listAssets(pool, auth.workspace.id, {
        id: null,
        programId: program_id ?? null,
        type: type ?? null,
        before: cursor ?? null,
        limit: limit + 1,
      });
      const page = cutPageAt(listed, limit, ({ id }) => id);
      return { assets: page.rows.map((row) => assetRecord(row, publicUrl)), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/assets',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['not_found', 'conflict'],
        checkRest: ({ type, ...body }: Partial<AssetBody>, faulty) =>
          void (type !== undefined && readContent({ type, ...body }, rules, faulty)),
      },
      schema: {
        tags,
        operationId: 'assets.create',
        summary: 'Give the affiliates of a program an image, a text, or a link',
        description:
          'The portal shows it at once to the affiliates of the program alone. Upload an image by `POST /assets/pictures` first. A program has at most 100 assets; one more is a 409.',
        body: AssetBody,
        response: { 201: AssetRecord },
      },
    },
    async (request, reply) => {
      const { auth, body } = request;
      const workspaceId = auth.workspace.id;
      const content = readContent(body, rules);
      if (content === null) throw new Error('a valid body has no content');
      return withIdempotency(pool, request, reply, async (tx) => {
        const id = await createAsset(tx, workspaceId, body, content, new Date());
        await request.audit(tx, { targetId: id });
        const [made] = await listAssets(tx, workspaceId, { ...ANY, id });
        if (!made) throw new Error(`asset ${id} is gone`);
        return { status: 201, body: assetRecord(made, publicUrl) };
      });
    },
  );

  app.delete(
    '/assets/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'assets.delete',
        summary: 'Delete an asset',
        description:
          'It leaves the portal at once. The picture of an image is deleted within a day, unless a bio page or another asset has it. What affiliates have downloaded stays with them.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteAsset(tx, request.auth.workspace.id, request.params.id)))
          throw new AppError('not_found', 'the workspace has no such asset');
        await request.audit(tx);
        return { ok: true as const };
      }),
  );
}

/** A filter that every asset passes. */
const ANY = { programId: null, type: null, before: null, limit: 1 };

function assetRecord({ picture, ...asset }: ListedAsset, publicUrl: string): AssetRecord {
  if (picture === null) return { ...asset, image: null };
  const { name, ...size } = picture;
  return { ...asset, image: { url: `${publicUrl}${picturePath(name)}`, ...size } };
}
