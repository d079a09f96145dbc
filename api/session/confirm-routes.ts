import { passwordMatches } from '../../core/access/passwords.ts';
import { badRequest } from '../../core/errors.ts';
import { passwordHashOf } from '../../sql/console/members.ts';
import { listPasskeys } from '../../sql/console/passkeys.ts';
import { isLinked } from '../../sql/console/provider-identities.ts';
import { recordConfirmation } from '../../sql/console/sessions.ts';
import { twoFactorOf } from '../../sql/console/two-factor.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { Ok } from '../schemas.ts';
import { signedIn } from './caller.ts';
import type { Passkeys } from './passkeys.ts';
import { ConfirmBody, ConfirmMethods } from './schemas.ts';
import type { Tries } from './tries.ts';
import { checkSecondFactor } from './two-factor.ts';

const tags = ['Sessions'];
const MEMBER = { scope: 'member', plan: 'any', role: 'analyst', console: true } as const;

/** Registers the confirmation that the person at the browser is the member, which changes of access require. */
export async function confirmRoutes(
  app: Api,
  { pool, config }: ApiDeps,
  { passkeys, tries }: { passkeys: Passkeys; tries: Tries },
): Promise<void> {
  app.get(
    '/session/confirm',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'session.getConfirmMethods',
        summary: 'List how you can confirm that it is you',
        response: { 200: ConfirmMethods },
      },
    },
    async ({ auth }) => {
      const { id } = signedIn(auth);
      const hash = await passwordHashOf(pool, id);
      const { enabled_at } = await twoFactorOf(pool, id);
      return {
        password: hash !== null,
        code: enabled_at !== null,
        passkey: (await listPasskeys(pool, id)).length > 0,
        provider: config.oidc && (await isLinked(pool, id, config.oidc.issuer)) ? config.oidc.name : null,
      };
    },
  );

  app.post(
    '/session/confirm',
    {
      config: { ...MEMBER, errors: ['conflict', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'session.confirm',
        summary: 'Confirm that it is you',
        description:
          'With one of `password`, `code` (of the authenticator app, or a recovery code) and `passkey`. For 10 minutes this session may then change keys, members, passkeys, passwords, two-factor sign-in and the identity secret. A sign-in counts as one.',
        body: ConfirmBody,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { auth, body, ip } = request;
      const { id, session } = signedIn(auth);
      const given = Object.keys(body) as (keyof ConfirmBody)[];
      const [method] = given;
      if (!method || given.length > 1) {
        throw badRequest('password', 'is required, or `code` or `passkey` instead; send exactly one of them');
      }
      const isRight = await tries({ account: id, address: ip, browser: session.id }, async () => {
        if (body.password !== undefined) {
          const hash = await passwordHashOf(pool, id);
          return hash !== null && (await passwordMatches(body.password, hash)) ? true : null;
        }
        if (body.code !== undefined) return (await checkSecondFactor(pool, id, body.code)) && true;
        return (await passkeys.checkSignIn(body.passkey))?.member_id === id ? true : null;
      });
      if (!isRight) throw badRequest(method, method === 'code' ? 'is wrong, or was used before' : 'is wrong');
      await inTransaction(pool, async (tx) => {
        await recordConfirmation(tx, session.id);
        await request.audit(tx, { details: { method } });
      });
      return { ok: true as const };
    },
  );
}
