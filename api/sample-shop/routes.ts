import { Type } from 'typebox';
import { mayDo } from '../../core/access/roles.ts';
import { hashSessionToken, newSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import { openSession, otherWorkspaces, parkSession } from '../../sql/console/browser-sessions.ts';
import { createSession } from '../../sql/console/sessions.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { sampleMember } from '../../sql/workspaces/sample-shops.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import { Nullable } from '../schemas.ts';
import { sessionOfToken } from '../session/begin.ts';
import { signedIn } from '../session/caller.ts';
import { sessionTokenOf, setSessionCookie } from '../session/cookie.ts';
import { SessionBody } from '../session/schemas.ts';
import { openSampleShop, removeSampleShop, type SampleShopDeps } from './sample-shop.ts';

const tags = ['Service'];
const MEMBER = { scope: 'member', plan: 'any', console: true } as const;

const Removed = Type.Object(
  {
    /** Null: this browser has no session in the workspace of the sample shop's owner. */
    session: Nullable(SessionBody as typeof SessionBody & { type: string }),
  },
  { title: 'SampleShopRemoved' },
);

/**
 * Registers the sample shop: a workspace with sample data, which belongs to the workspace of the member who opens it.
 * Members of the sample shop can't change it: `session/caller.ts` refuses that.
 */
export async function sampleShopRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const deps: SampleShopDeps = {
    pool,
    async send({ body, ...request }) {
      const sent = await app.inject({ ...request, ...(body !== undefined && { payload: body }) } as object);
      return { status: sent.statusCode, text: sent.body };
    },
  };

  /** Parks the session of the request. @returns the browser */
  async function leave(tx: Parameters<typeof parkSession>[0], request: FastifyRequest): Promise<string> {
    const before = hashSessionToken(sessionTokenOf(request, config.appUrl) ?? '') ?? Buffer.alloc(0);
    const browserId = await parkSession(tx, before);
    if (browserId === null) throw new AppError('unauthorized', 'the session has ended; sign in again');
    return browserId;
  }

  function show(reply: FastifyReply, token: string): void {
    setSessionCookie(reply, token, config.appUrl);
    reply.header('cache-control', 'no-store');
  }

  app.post(
    '/sample-shop',
    {
      config: { ...MEMBER, role: 'operator', errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'sampleShop.open',
        summary: 'Look at the sample shop',
        description:
          'Makes the sample shop of the workspace if there is none, which takes seconds, and switches this browser to it. The cookie and the `csrf_token` are new; the session that was open waits.',
        response: { 200: SessionBody },
      },
    },
    async (request, reply) => {
      const { auth } = request;
      const member = signedIn(auth);
      const { id: workspaceId } = await openSampleShop(deps, auth.workspace.id, Date.now());
      const { token, hash: tokenHash } = newSessionToken();
      const session = await inTransaction(pool, async (tx) => {
        const browserId = await leave(tx, request);
        const waiting = (await otherWorkspaces(tx, member.session.id)).find(
          (other) => other.workspace_id === workspaceId,
        );
        if (waiting) await openSession(tx, { browserId, memberId: waiting.member_id, tokenHash });
        else {
          const memberId = await sampleMember(tx, workspaceId, member.email);
          const { user_agent: userAgent } = member.session;
          await createSession(tx, { workspaceId, memberId, browserId, userAgent, tokenHash });
        }
        await request.audit(tx, { targetId: workspaceId });
        return sessionOfToken(tx, config, token);
      });
      show(reply, token);
      return session;
    },
  );

  app.delete(
    '/sample-shop',
    {
      config: { ...MEMBER, role: 'analyst', errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'sampleShop.remove',
        summary: 'Remove the sample shop',
        description:
          'From the sample shop or the workspace that it belongs to; for operators and owners. A browser that looks at it returns to that workspace.',
        response: { 200: Removed },
      },
    },
    async (request, reply) => {
      const { auth } = request;
      const member = signedIn(auth);
      if (!mayDo(member.role, 'operator')) {
        throw new AppError(
          'forbidden',
          `this endpoint requires the role operator; your role is ${member.role}`,
        );
      }
      const { sample_of: looksFrom, id } = auth.workspace;
      const sourceId = looksFrom ?? id;
      const { token, hash: tokenHash } = newSessionToken();
      let returned: SessionBody | null = null;
      // Switches together with the end of the sample shop's sessions, because the page keeps using its cookie until
      // then.
      await removeSampleShop(deps, sourceId, async (tx, sampleId) => {
        const others = looksFrom === null ? [] : await otherWorkspaces(tx, member.session.id);
        const source = others.find((other) => other.workspace_id === sourceId);
        // In the log of the workspace that it belongs to, which has another member of the same person.
        await request.audit(tx, {
          workspaceId: sourceId,
          targetId: sampleId,
          ...(source && { memberId: source.member_id }),
        });
        if (!source) return;
        const browserId = await leave(tx, request);
        await openSession(tx, { browserId, memberId: source.member_id, tokenHash });
        returned = await sessionOfToken(tx, config, token);
      });
      if (looksFrom !== null) {
        if (returned !== null) show(reply, token);
        return { session: returned };
      }
      return { session: await sessionOfToken(pool, config, sessionTokenOf(request, config.appUrl) ?? '') };
    },
  );
}
