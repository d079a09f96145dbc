import { AppError } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import {
  deleteFolder,
  folderById,
  insertFolder,
  linksInFolders,
  listFolders,
  renameFolder,
} from '../../sql/links/folders.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { FolderBody, FolderChange, FolderList, FolderQuery, FolderRecord } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'any' } as const;
const tags = ['Folders'];
const notFound = () => new AppError('not_found', 'the workspace has no such folder');

/** Registers the routes of folders, which group campaigns. Any plan. */
export async function folderRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/folders',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'folders.list',
        summary: 'List folders, newest first',
        querystring: FolderQuery,
        response: { 200: FolderList },
      },
    },
    async ({ auth, query: { limit, cursor, counts } }) => {
      const rows = await listFolders(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      if (counts === 'exclude') return { folders: page.rows, next_cursor: page.nextCursor };
      const ids = page.rows.map(({ id }) => id);
      const links = await linksInFolders(pool, auth.workspace.id, ids);
      const folders = page.rows.map((folder) => ({ ...folder, links: links.get(folder.id) ?? 0 }));
      return { folders, next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/folders',
    {
      config: { ...CONFIG, idempotent: true },
      schema: {
        tags,
        operationId: 'folders.create',
        summary: 'Create a folder',
        body: FolderBody,
        response: { 201: FolderRecord },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { id } = await lockWorkspace(tx, request.auth.workspace.id);
        return { status: 201, body: await insertFolder(tx, id, request.body.name) };
      }),
  );

  app.patch(
    '/folders/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'folders.update',
        summary: 'Rename a folder',
        params: IdParams,
        body: FolderChange,
        response: { 200: FolderRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const { name } = body;
      const folder =
        name === undefined
          ? await folderById(pool, auth.workspace.id, params.id)
          : await inTransaction(pool, async (tx) => {
              const renamed = await renameFolder(tx, auth.workspace.id, params.id, name);
              if (renamed) await request.audit(tx);
              return renamed;
            });
      if (!folder) throw notFound();
      return folder;
    },
  );

  app.delete(
    '/folders/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'folders.delete',
        summary: 'Delete a folder',
        description: 'Its campaigns stay, without a folder.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const isDeleted = await app.workspaceQueue(auth.workspace.id, () =>
        inTransaction(pool, async (tx) => {
          const { id } = await lockWorkspace(tx, auth.workspace.id);
          const isDeleted = await deleteFolder(tx, id, params.id);
          if (isDeleted) await request.audit(tx);
          return isDeleted;
        }),
      );
      if (!isDeleted) throw notFound();
      return { ok: true as const };
    },
  );
}
