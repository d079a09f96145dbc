import { hashSessionToken } from '../../core/access/session-tokens.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { acceptTerms } from '../../sql/portal/accepted-terms.ts';
import { setNotices } from '../../sql/portal/notices.ts';
import { createPortalSession, endPortalSession } from '../../sql/portal/sessions.ts';
import { consumeSignIn, createSignIn, SIGN_IN_MINUTES } from '../../sql/portal/sign-ins.ts';
import { lockEnrollment } from '../../sql/referrals/enrollments.ts';
import { deleteEnrollment } from '../../sql/transactions/delete-enrollment.ts';
import { portalUrl } from '../applications/decide.ts';
import type { Api, ApiDeps, FastifyRequest } from '../dependencies.ts';
import { readEmail } from '../emails.ts';
import { placeOf } from '../mail/place.ts';
import { savePayoutMethod } from '../referrals/payout-method.ts';
import { Ok } from '../schemas.ts';
import { createHashKey } from '../session/hash-key.ts';
import { ownPage } from '../session/own-origin.ts';
import { createTries } from '../session/tries.ts';
import { readTerms } from './apply.ts';
import { inEvenTime } from './even-time.ts';
import { portalOf } from './portal-of.ts';
import {
  DeleteAccountBody,
  PortalNoticesBody,
  PortalPayoutBody,
  PortalSignInBody,
  PortalTermsBody,
  PortalTokenBody,
} from './schemas.ts';
import { affiliateOf, portalCookies, requireFresh, requireOwn } from './session.ts';

const tags = ['Portal'];
const PUBLIC = { scope: 'public', plan: 'any', console: true } as const;
/** Who the history of a referrer names. */
const BY_AFFILIATE = 'affiliate';

/** Checks the email of a body. @throws {AppError} `bad_request` when it is malformed */
const checkEmail = ({ email }: { email?: string }): void => {
  if (email !== undefined) readEmail(email, 'email');
};

/** Registers how affiliates sign in to the portal, and what they change there. */
export async function portalAccountRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const outbox = createOutbox(config.mail !== null);
  const cookies = portalCookies(config.appUrl);
  const tries = createTries(pool, createHashKey(pool));
  const onRequest = ownPage(config);

  app.post(
    '/portal/sign-in',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden', 'not_found', 'too_many_requests'], checkRest: checkEmail },
      schema: {
        tags,
        operationId: 'portal.requestSignIn',
        summary: 'Request a link that signs in to the portal',
        description:
          'The response and its time are the same whether the address is in a program. If it is, it gets a mail with a link, which works once, for ten minutes, in this browser; at most five an hour. After 30 requests in a minute from one network address, further ones get a 429.',
        body: PortalSignInBody,
        response: { 202: Ok },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const email = readEmail(body.email, 'email');
      const browserHash = cookies.bindBrowser(request, reply);
      // Never counts as a success: each request is one of those that the address may make in a minute.
      await tries({ address: request.ip }, () =>
        inEvenTime(async () => {
          const found = await portalOf(pool, body.code);
          if (!found) throw new AppError('not_found', 'there is no program with this code');
          if (!outbox.isOn) return null;
          await inTransaction(pool, async (tx) => {
            const link = await createSignIn(tx, email, browserHash);
            if (!link) return;
            const url = `${portalUrl(config.appUrl, found.program)}/sign-in#${link.token}`;
            const content = {
              kind: 'portal_sign_in',
              url,
              minutes: SIGN_IN_MINUTES,
              language: body.language,
              place: placeOf(request),
            } as const;
            await outbox.queue(tx, [
              { workspaceId: found.workspace.id, recipient: email, content, expiresAt: link.expiresAt },
            ]);
          });
          return null;
        }),
      );
      return reply.status(202).send({ ok: true as const });
    },
  );

  app.post(
    '/portal/sign-in/complete',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden', 'unauthorized'] },
      schema: {
        tags,
        operationId: 'portal.signIn',
        summary: 'Sign in to the portal with the link of a mail',
        description:
          'Sets a cookie. A 401 when the link was used, has ended, or another browser asked for it.',
        body: PortalTokenBody,
        response: { 200: Ok },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const [hash, browser] = [hashSessionToken(request.body.token), cookies.browserHash(request)];
      const token = await inTransaction(pool, async (tx) => {
        const email = hash && browser && (await consumeSignIn(tx, hash, browser));
        return email ? createPortalSession(tx, email) : null;
      });
      if (token === null)
        throw new AppError('unauthorized', 'the link is used or expired, or another browser asked for it');
      cookies.begin(reply, token);
      return { ok: true as const };
    },
  );

  app.post(
    '/portal/sign-out',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden'] },
      schema: {
        tags,
        operationId: 'portal.signOut',
        summary: 'Sign out of the portal',
        response: { 200: Ok },
      },
    },
    async (request, reply) => {
      const hash = cookies.sessionHash(request);
      if (hash) await endPortalSession(pool, hash);
      cookies.end(reply);
      return { ok: true as const };
    },
  );

  /** Returns the caller and the program. @throws {AppError} see `requireOwn` */
  async function ownOf(request: FastifyRequest, code: string) {
    const found = await portalOf(pool, code);
    const own = requireOwn(await affiliateOf(pool, cookies, request), found?.program.id ?? null);
    return { ...own, portal: found?.program.portal };
  }

  /** Returns the caller and the program. @throws {AppError} see `requireOwn` and `requireFresh` */
  async function freshOwn(request: FastifyRequest, code: string) {
    const given = await ownOf(request, code);
    requireFresh(given.affiliate);
    return given;
  }

  app.post(
    '/portal/notices',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden', 'unauthorized', 'not_found'] },
      schema: {
        tags,
        operationId: 'portal.setNotices',
        summary: 'Turn the own mails of a program on or off',
        description:
          'Mails about the first sale, payouts, and refunds. Turning them on also ends an earlier unsubscription from mails of the workspace.',
        body: PortalNoticesBody,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { code, notices } = request.body;
      const { own, affiliate } = await ownOf(request, code);
      const whose = { enrollmentId: own.enrollment_id, email: affiliate.email };
      await inTransaction(pool, (tx) => setNotices(tx, whose, notices === 'on'));
      return { ok: true as const };
    },
  );

  app.post(
    '/portal/terms',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden', 'unauthorized', 'not_found', 'conflict'] },
      schema: {
        tags,
        operationId: 'portal.acceptTerms',
        summary: 'Accept the terms of a program',
        description:
          'The present ones, after they have changed. Version and time are in the hash chain of the ledger. Accepted a second time nothing changes. A 409 when `terms_version` is not the present one.',
        body: PortalTermsBody,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { code, terms_version } = request.body;
      const { own, portal } = await ownOf(request, code);
      const version = portal && readTerms(portal, terms_version);
      if (!version) throw badRequest('terms_version', 'names no terms: the program has none');
      const accepting = {
        workspaceId: own.workspace_id,
        programId: own.program_id,
        applicationId: own.application_id,
        enrollmentId: own.enrollment_id,
      };
      await inTransaction(pool, (tx) => acceptTerms(tx, accepting, version, new Date()));
      return { ok: true as const };
    },
  );

  app.post(
    '/portal/payout-method',
    {
      onRequest,
      config: {
        ...PUBLIC,
        errors: ['forbidden', 'unauthorized', 'not_found', 'method_not_offered'],
        checkRest: checkEmail,
      },
      schema: {
        tags,
        operationId: 'portal.setPayoutMethod',
        summary: 'Set the own payout address',
        description:
          'Needs a sign-in of the last ten minutes. The former address gets a mail, and payout files leave the balance out for `payout_hold_days`.',
        body: PortalPayoutBody,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { code, method, email } = request.body;
      const { own } = await freshOwn(request, code);
      const origin = { now: new Date(), by: BY_AFFILIATE };
      await inTransaction(pool, async (tx) => {
        const known = await lockEnrollment(tx, own.workspace_id, own.enrollment_id);
        if (!known) throw new AppError('not_found', 'you are in no program with this code');
        const body = { external_user_id: known.external_user_id, method, email };
        await savePayoutMethod(tx, own.workspace_id, { body, isTrusted: false }, origin, outbox);
      });
      return { ok: true as const };
    },
  );

  app.post(
    '/portal/delete-account',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden', 'unauthorized', 'not_found'] },
      schema: {
        tags,
        operationId: 'portal.deleteAccount',
        summary: 'Delete the own account in a program',
        description:
          'Needs a sign-in of the last ten minutes. As `DELETE /enrollments/{id}`: name and addresses are erased, ids and amounts stay in the ledger.',
        body: DeleteAccountBody,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { own } = await freshOwn(request, request.body.code);
      const origin = { now: new Date(), by: BY_AFFILIATE };
      await inTransaction(pool, async (tx) => {
        const known = await lockEnrollment(tx, own.workspace_id, own.enrollment_id);
        if (known) await deleteEnrollment(tx, known, origin);
      });
      return { ok: true as const };
    },
  );
}
