import { AppError, badRequest } from '../../core/errors.ts';
import { passwordHashOf } from '../../sql/console/members.ts';
import { deleteTwoFactor, twoFactorOf } from '../../sql/console/two-factor.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps, Auth } from '../dependencies.ts';
import { Ok } from '../schemas.ts';
import { signedIn } from './caller.ts';
import { AppSecret, CodeBody, RecoveryCodes, TwoFactorView } from './schemas.ts';
import type { Tries } from './tries.ts';
import { beginApp, confirmApp, makeRecoveryCodes } from './two-factor.ts';

const tags = ['Two-factor sign-in'];
const MEMBER = { scope: 'member', plan: 'any', role: 'analyst', console: true } as const;
const CHANGE = { ...MEMBER, recentSignIn: true } as const;

const idsOf = (auth: Auth) => ({ workspaceId: auth.workspace.id, memberId: signedIn(auth).id });
const isOff = () => new AppError('conflict', 'two-factor sign-in is off');

/** Registers the routes of a member's authenticator app (TOTP) and recovery codes. */
export async function twoFactorRoutes(app: Api, { pool }: ApiDeps, tries: Tries): Promise<void> {
  app.get(
    '/two-factor',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'twoFactor.get',
        summary: 'Get the state of your two-factor sign-in',
        response: { 200: TwoFactorView },
      },
    },
    async ({ auth }) => {
      const { id } = signedIn(auth);
      const { enabled_at, recovery_codes } = await twoFactorOf(pool, id);
      return { enabled_at: enabled_at?.toISOString() ?? null, recovery_codes };
    },
  );

  app.post(
    '/two-factor/setup',
    {
      config: { ...CHANGE, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'twoFactor.setUp',
        summary: 'Get a secret for your authenticator app',
        description:
          'It is required at sign-in once a code of it was confirmed. A 409 if two-factor sign-in is on, or for a member without a password: a passkey and an identity provider have factors of their own.',
        response: { 200: AppSecret },
      },
    },
    async ({ auth }, reply) => {
      const { id, email } = signedIn(auth);
      if (email === null || (await passwordHashOf(pool, id)) === null) {
        throw new AppError('conflict', 'two-factor sign-in is for passwords; set a password first');
      }
      reply.header('cache-control', 'no-store');
      return beginApp(pool, { ...idsOf(auth), email });
    },
  );

  app.post(
    '/two-factor',
    {
      config: { ...CHANGE, errors: ['conflict', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'twoFactor.enable',
        summary: 'Turn on two-factor sign-in',
        description: 'With a current code of the app. The recovery codes are shown only here.',
        body: CodeBody,
        response: { 201: RecoveryCodes },
      },
    },
    async (request, reply) => {
      const { auth, body, ip } = request;
      const { id, session } = signedIn(auth);
      const codes = await tries({ account: id, address: ip, browser: session.id }, () =>
        inTransaction(pool, async (tx) => {
          if (!(await confirmApp(tx, id, body.code))) return null;
          const made = await makeRecoveryCodes(tx, idsOf(auth));
          await request.audit(tx);
          return made;
        }),
      );
      if (!codes) throw badRequest('code', 'is wrong; check the clock of your device');
      return reply.header('cache-control', 'no-store').status(201).send({ recovery_codes: codes });
    },
  );

  app.post(
    '/two-factor/recovery-codes',
    {
      config: { ...CHANGE, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'twoFactor.replaceRecoveryCodes',
        summary: 'Replace your recovery codes',
        description: 'Earlier ones no longer count. The new ones are shown only here.',
        response: { 201: RecoveryCodes },
      },
    },
    async (request, reply) => {
      const { auth } = request;
      const codes = await inTransaction(pool, async (tx) => {
        if ((await twoFactorOf(tx, signedIn(auth).id)).enabled_at === null) throw isOff();
        const made = await makeRecoveryCodes(tx, idsOf(auth));
        await request.audit(tx);
        return made;
      });
      return reply.header('cache-control', 'no-store').status(201).send({ recovery_codes: codes });
    },
  );

  app.delete(
    '/two-factor',
    {
      config: { ...CHANGE, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'twoFactor.disable',
        summary: 'Turn off two-factor sign-in',
        description: 'Deletes the secret and the recovery codes.',
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteTwoFactor(tx, signedIn(request.auth).id))) throw isOff();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );
}
