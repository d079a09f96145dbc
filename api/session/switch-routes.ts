import { hashSessionToken, newSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import { openSession, parkSession } from '../../sql/console/browser-sessions.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { sessionOfToken } from './begin.ts';
import { sessionTokenOf, setSessionCookie } from './cookie.ts';
import { SessionBody, SwitchBody } from './schemas.ts';

/**
 * Registers the switch between workspaces. It opens a session that this browser started with that member's own
 * credentials, and creates none: an email in another workspace proves nothing.
 */
export async function switchRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  app.post(
    '/session/switch',
    {
      config: {
        scope: 'member',
        plan: 'any',
        role: 'analyst',
        console: true,
        whileSuspended: true,
        errors: ['not_found'],
      },
      schema: {
        tags: ['Sessions'],
        operationId: 'session.switch',
        summary: 'Switch to another workspace',
        description:
          'To one that this browser is signed in to as well. The cookie and the `csrf_token` are new; the session that was open waits.',
        body: SwitchBody,
        response: { 200: SessionBody },
      },
    },
    async (request, reply) => {
      const { member_id: memberId } = request.body;
      const before = hashSessionToken(sessionTokenOf(request, config.appUrl) ?? '') ?? Buffer.alloc(0);
      const { token, hash: tokenHash } = newSessionToken();
      const session = await inTransaction(pool, async (tx) => {
        // Parked first, so that the second of two concurrent switches finds no session.
        const browserId = await parkSession(tx, before);
        if (browserId === null) throw new AppError('unauthorized', 'the session has ended; sign in again');
        const opened = await openSession(tx, { browserId, memberId, tokenHash });
        if (!opened) {
          throw new AppError(
            'not_found',
            'this browser is not signed in as this member; sign in as the member first',
          );
        }
        await request.audit(tx, { workspaceId: opened.workspace_id, memberId });
        return sessionOfToken(tx, config, token);
      });
      setSessionCookie(reply, token, config.appUrl);
      reply.header('cache-control', 'no-store');
      return session;
    },
  );
}
