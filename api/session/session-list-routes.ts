import { parseUserAgent } from '../../core/enrich/user-agents.ts';
import { AppError } from '../../core/errors.ts';
import { endOtherSessions, endSession, listSessions } from '../../sql/console/sessions.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { IdParams, Ok } from '../schemas.ts';
import { signedIn } from './caller.ts';
import { clearSessionCookie } from './cookie.ts';
import { EndedSessions, SessionList } from './schemas.ts';

const tags = ['Sessions'];
const MEMBER = { scope: 'member', plan: 'any', role: 'analyst', console: true } as const;

/** Registers the routes of a member's own sessions. */
export async function ownSessionRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  app.get(
    '/sessions',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'sessions.list',
        summary: 'List your sessions, last used first',
        response: { 200: SessionList },
      },
    },
    async ({ auth }) => {
      const { id, session } = signedIn(auth);
      const sessions = (await listSessions(pool, id)).map((one) => {
        const { browser, os } = parseUserAgent(one.user_agent);
        return {
          id: one.id,
          browser,
          os,
          current: one.id === session.id,
          created_at: one.created_at.toISOString(),
          last_seen_at: one.last_seen_at.toISOString(),
          expires_at: one.expires_at.toISOString(),
        };
      });
      return { sessions };
    },
  );

  app.delete(
    '/sessions/:id',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'sessions.end',
        summary: 'End one of your sessions',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request, reply) => {
      const { auth, params } = request;
      const { id, session } = signedIn(auth);
      await inTransaction(pool, async (tx) => {
        if (!(await endSession(tx, id, params.id))) {
          throw new AppError('not_found', 'you have no such session');
        }
        await request.audit(tx);
      });
      if (params.id.toLowerCase() === session.id) clearSessionCookie(reply, config.appUrl);
      return { ok: true as const };
    },
  );

  app.delete(
    '/sessions',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'sessions.endOthers',
        summary: 'End your other sessions',
        response: { 200: EndedSessions },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { id, session } = signedIn(request.auth);
        const ended = await endOtherSessions(tx, id, session.id);
        await request.audit(tx);
        return { ended };
      }),
  );
}
