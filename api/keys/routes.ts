import { AppError } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import {
  createKey,
  type ListedKey,
  listedKey,
  listKeyPage,
  revokeWorkspaceKey,
} from '../../sql/workspaces/keys.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { IdParams, Ok } from '../schemas.ts';
import { KeyBody, KeyList, KeyQuery, type KeyRecord, KeyWithToken } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'any', role: 'owner' } as const;
const tags = ['Keys'];
const noSuchKey = () => new AppError('not_found', 'the workspace has no such key');

const PREFIX = { secret: 'lk_live_', publishable: 'pk_live_' } as const;

/** Returns a key as the API shows it: without its token or hash. */
function shown({ lookup, ...key }: ListedKey): KeyRecord {
  return { ...key, prefix: `${PREFIX[key.kind]}${lookup}` };
}

/** Registers the routes of workspace keys. A secret key, or an owner's session; any plan. */
export async function keyRoutes(app: Api, { pool }: Pick<ApiDeps, 'pool'>): Promise<void> {
  app.get(
    '/keys',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'keys.list',
        summary: 'List keys, newest first',
        description: 'Includes revoked keys and keys created by a partner. Tokens are not stored.',
        querystring: KeyQuery,
        response: { 200: KeyList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const keys = await listKeyPage(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const { rows, nextCursor } = cutPage(keys, limit);
      return { keys: rows.map(shown), next_cursor: nextCursor };
    },
  );

  app.post(
    '/keys',
    {
      config: { ...CONFIG, idempotent: 'unkept' },
      schema: {
        tags,
        operationId: 'keys.create',
        summary: 'Create a key',
        description: CREATE_DESCRIPTION,
        body: KeyBody,
        response: { 201: KeyWithToken },
      },
    },
    async ({ auth, body, server }, reply) => {
      const { id: workspaceId } = auth.workspace;
      const made = await server.workspaceQueue(workspaceId, () =>
        inTransaction(pool, async (tx): Promise<KeyWithToken> => {
          await lockWorkspace(tx, workspaceId);
          const { key, token } = await createKey(tx, {
            workspaceId,
            kind: body.kind,
            label: body.label?.trim() ?? '',
          });
          const listed = await listedKey(tx, workspaceId, key.id);
          if (!listed) throw new Error('the key was not inserted');
          return { ...shown(listed), token };
        }),
      );
      return reply.header('cache-control', 'no-store').status(201).send(made);
    },
  );

  app.delete(
    '/keys/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'keys.revoke',
        summary: 'Revoke a key',
        description: REVOKE_DESCRIPTION,
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async ({ auth, params }) => {
      if (!(await revokeWorkspaceKey(pool, auth.workspace.id, params.id))) throw noSuchKey();
      return { ok: true as const };
    },
  );
}

const CREATE_DESCRIPTION = `The response has the \`token\`. Only its hash is stored, so it cannot be shown again.
\`Idempotency-Key\` has no effect here, because a response with a token is not stored: a repeated call creates a second
key, which is in the list and can be revoked.`;

const REVOKE_DESCRIPTION = `Takes effect immediately: the next call with the key is a 401. It cannot be undone, and a second call changes
nothing. The key stays in the list.

A key can revoke itself, even the workspace's last one. This call still gets a 200; afterwards no key is left to create
another one. An owner can create one in the console, an operator of the service with \`hoplog key create\`.`;
