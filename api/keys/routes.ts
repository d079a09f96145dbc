import type { FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { descendantsOf, endDescendants } from '../../sql/workspaces/key-descendants.ts';
import { type ListedKey, listedKey, listKeyPage, revokeWorkspaceKey } from '../../sql/workspaces/keys.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { secretOnce, withIdempotency } from '../plugins/idempotency.ts';
import { IdParams } from '../schemas.ts';
import { checkRights, createKeyFor, rightsOf } from './new-key.ts';
import { KeyBody, KeyList, KeyQuery, type KeyRecord, KeyWithToken, Revoked, RevokeQuery } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'any', role: 'owner', manage: true } as const;
const tags = ['Keys'];
const noSuchKey = () => new AppError('not_found', 'the workspace has no such key');

const PREFIX = { secret: 'lk_live_', publishable: 'pk_live_' } as const;

/** Returns a key as the API shows it: without its token or hash. */
function shown({ lookup, ...key }: ListedKey): KeyRecord {
  return { ...key, prefix: `${PREFIX[key.kind]}${lookup}` };
}

/** Registers the routes of workspace keys. A key with `manage`, or an owner's session; any plan. */
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
      config: {
        ...CONFIG,
        recentSignIn: true,
        idempotent: true,
        checkRest: (body: Partial<KeyBody>) => checkRights(body, new Date()),
      },
      schema: {
        tags,
        operationId: 'keys.create',
        summary: 'Create a key',
        description: CREATE_DESCRIPTION,
        body: KeyBody,
        response: { 201: KeyWithToken },
      },
    },
    async (request, reply) => {
      const { auth, body } = request;
      const { id: workspaceId } = auth.workspace;
      const rights = rightsOf(body, auth, new Date());
      reply.header('cache-control', 'no-store');
      return withIdempotency(pool, request, reply, async (tx) => {
        await lockWorkspace(tx, workspaceId);
        const { key, token } = await createKeyFor(tx, auth, body, rights);
        const listed = await listedKey(tx, workspaceId, key.id);
        if (!listed) throw new Error('the key was not inserted');
        await request.audit(tx, { targetId: key.id });
        return secretOnce(201, { ...shown(listed), token }, shown(listed));
      });
    },
  );

  app.delete(
    '/keys/:id',
    {
      config: { ...CONFIG, recentSignIn: true, manage: revokesAnother },
      schema: {
        tags,
        operationId: 'keys.revoke',
        summary: 'Revoke a key',
        description: REVOKE_DESCRIPTION,
        params: IdParams,
        querystring: RevokeQuery,
        response: { 200: Revoked },
      },
    },
    (request) =>
      inTransaction(pool, async (tx) => {
        const { auth, params, query } = request;
        const { id } = params;
        const { id: workspaceId } = auth.workspace;
        if (!(await revokeWorkspaceKey(tx, workspaceId, id))) throw noSuchKey();
        const find = query.descendants ? endDescendants : descendantsOf;
        const { keys, members } = await find(tx, workspaceId, [id], auth.member?.id ?? null);
        await request.audit(tx);
        const counts = { keys: keys.length, members: members.length };
        return { ok: true as const, descendants: { ...counts, ended: query.descendants } };
      }),
  );
}

/**
 * Returns whether a call revokes another key, or descendants. A key may revoke itself without `manage`, so that anyone
 * who finds it leaked can end it.
 */
function revokesAnother({ auth, params, query }: FastifyRequest): boolean {
  const { id } = params as { id?: string };
  const { descendants } = query as { descendants?: unknown };
  return id?.toLowerCase() !== auth.key.id || (descendants !== undefined && descendants !== 'false');
}

const CREATE_DESCRIPTION = `The response has the \`token\`. Only its hash is stored, so it cannot be shown again.
With an \`Idempotency-Key\` a repeated call creates nothing, and its response has no token.

A key gives no more rights than it has, and never \`manage\`.`;

const REVOKE_DESCRIPTION = `Takes effect immediately: the next call with the key is a 401. It cannot be undone, and a second call changes
nothing. The key stays in the list.

\`descendants=true\` also revokes the keys that the key created, removes the members who accepted its invitations, and
so on for what those created. It can remove the last owner; an operator can then invite one. A calling member, and what
they created, stay.

A key can revoke itself without \`manage\`, even the workspace's last one. This call still gets a 200; afterwards no key is left to create
another one. An owner can create one in the console, an operator of the service with \`hoplog key create\`.`;
