import { hashSessionToken, resetUrl } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import { lockMember, passwordHolders, setPassword } from '../../sql/console/members.ts';
import { consumeReset, createReset, openReset, RESET_MINUTES } from '../../sql/console/password-resets.ts';
import { endOtherSessions } from '../../sql/console/sessions.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { ACCOUNT_PAGE, placeOf } from '../mail/place.ts';
import { Ok } from '../schemas.ts';
import { requireEmail } from './accept.ts';
import { ownPage } from './own-origin.ts';
import type { MemberPasswords } from './passwords.ts';
import { NewPasswordBody, ResetBody, ResetToken, ResetView } from './schemas.ts';
import type { Tries } from './tries.ts';

const tags = ['Sessions'];

const noSuchReset = () =>
  new AppError('unauthorized', 'the link is unknown, used or expired; request another one');

/**
 * Registers the reset of a forgotten password by a link in a mail. The request for one does the same work for every
 * address: it writes a link and a mail. The worker that sends mails looks for the account, and drops the mail without
 * one.
 */
export async function passwordResetRoutes(
  app: Api,
  { pool, config }: ApiDeps,
  { passwords, tries }: { passwords: MemberPasswords; tries: Tries },
): Promise<void> {
  const outbox = createOutbox(config.mail !== null);
  const onRequest = ownPage(config);
  const PUBLIC = { scope: 'public', plan: 'any', console: true } as const;

  app.post(
    '/session/password-reset',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'session.requestPasswordReset',
        summary: 'Request a link that sets another password',
        description:
          'The response and its time are the same whether the address has an account. A member with a password gets a mail with a link, which works once, for an hour; at most three an hour. Without `SMTP_URL` nothing is sent. After 30 requests in a minute from one network address, further ones get a 429.',
        body: ResetBody,
        response: { 202: Ok },
      },
    },
    async (request, reply) => {
      const email = requireEmail(request.body.email);
      // Never counts as a success: each request is one of those that the address may make in a minute.
      await tries({ address: request.ip }, async () => {
        if (!outbox.isOn) return null;
        await inTransaction(pool, async (tx) => {
          const reset = await createReset(tx, email);
          if (!reset) return;
          const url = resetUrl(config.appUrl, reset.token);
          const place = placeOf(request);
          const content = { kind: 'password_reset', url, minutes: RESET_MINUTES, place } as const;
          await outbox.queue(tx, [
            { workspaceId: null, recipient: email, content, expiresAt: reset.expiresAt },
          ]);
        });
        return null;
      });
      return reply.status(202).send({ ok: true as const });
    },
  );

  app.post(
    '/session/password-reset/view',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['unauthorized', 'forbidden'] },
      schema: {
        tags,
        operationId: 'session.viewPasswordReset',
        summary: 'Get the account of a reset link',
        body: ResetToken,
        response: { 200: ResetView },
      },
    },
    async ({ body }) => {
      const hash = hashSessionToken(body.token);
      const reset = hash && (await openReset(pool, hash));
      if (!reset) throw noSuchReset();
      return { email: reset.email, expires_at: reset.expires_at.toISOString() };
    },
  );

  app.post(
    '/session/password-reset/complete',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['unauthorized', 'forbidden'] },
      schema: {
        tags,
        operationId: 'session.resetPassword',
        summary: 'Set another password with a reset link',
        description:
          'In every workspace where the address signs in with a password. All sessions there end, and two-factor sign-in stays: sign in with the new password afterwards.',
        body: NewPasswordBody,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { token, password } = request.body;
      const hash = hashSessionToken(token) ?? Buffer.alloc(0);
      const reset = await openReset(pool, hash);
      if (!reset) throw noSuchReset();
      const next = await passwords.hash(reset.email, password);
      await inTransaction(pool, async (tx) => {
        const email = await consumeReset(tx, hash);
        if (email === null) throw noSuchReset();
        const holders = await passwordHolders(tx, email, null);
        // Ordered by id, as sign-ins lock members.
        for (const { member_id: memberId, workspace_id: workspaceId } of holders.toSorted((a, b) =>
          a.member_id < b.member_id ? -1 : 1,
        )) {
          await lockMember(tx, memberId);
          await setPassword(tx, memberId, next);
          await endOtherSessions(tx, memberId, null);
          await request.audit(tx, { workspaceId, memberId });
        }
        const at = new Date().toISOString();
        const accountUrl = config.appUrl + ACCOUNT_PAGE;
        const place = placeOf(request);
        const content = { kind: 'account_change', change: 'password_reset', at, place, accountUrl } as const;
        await outbox.queue(tx, [{ workspaceId: null, recipient: email, content }]);
      });
      return { ok: true as const };
    },
  );
}
