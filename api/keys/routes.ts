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

/** A key as it is shown: never its token, never its hash. */
function shown({ lookup, ...key }: ListedKey): KeyRecord {
  return { ...key, prefix: `${PREFIX[key.kind]}${lookup}` };
}

/** Keys of the workspace. A secret key, or an owner in the console; any plan. */
export async function keyRoutes(app: Api, { pool }: Pick<ApiDeps, 'pool'>): Promise<void> {
  app.get(
    '/keys',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'List keys, newest first',
        description: 'Revoked ones too, and those that a partner has made. Tokens are not kept.',
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
        operationId: 'createKey',
        summary: 'Create a key',
        description: CREATE_DESCRIPTION,
        body: KeyBody,
        response: { 201: KeyWithToken },
      },
    },
    async ({ auth, body, server }, reply) => {
      const { id: workspaceId } = auth.workspace;
      const made = await server.workspaceTurns(workspaceId, () =>
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
        operationId: 'revokeKey',
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

const CREATE_DESCRIPTION = `The answer has the \`token\`: only its hash is kept, so it can't be shown again.
\`Idempotency-Key\` changes nothing here, since an answer with a token is not kept: a call that was repeated made a second
key, which the list shows and which can be revoked.`;

const REVOKE_DESCRIPTION = `It holds at once: the next call with the key is a 401. It can't be taken back; a second
call changes nothing. The key stays in the list.

A key may revoke itself, the workspace's last one too: this call is still answered with 200, and then there is no key left to
make another with. An owner makes one in the console, an operator of the service with \`hoplog key create\`.`;
