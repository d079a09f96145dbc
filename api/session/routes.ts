import { AppError } from '../../core/errors.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { endBrowserSessions, otherWorkspaces } from '../../sql/console/browser-sessions.ts';
import type { PasswordHolder } from '../../sql/console/members.ts';
import type { SigningIn } from '../../sql/console/sessions.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { Ok } from '../schemas.ts';
import { beginSession, describeSession } from './begin.ts';
import { signedIn } from './caller.ts';
import { confirmRoutes } from './confirm-routes.ts';
import { clearSessionCookie } from './cookie.ts';
import { createHashKey } from './hash-key.ts';
import { inviteRoutes } from './invite-routes.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { ownPage } from './own-origin.ts';
import { ownPasskeyRoutes } from './passkey-routes.ts';
import { createPasskeys } from './passkeys.ts';
import { passwordResetRoutes } from './password-reset-routes.ts';
import { createMemberPasswords } from './passwords.ts';
import { PROVIDER_START } from './provider-routes.ts';
import {
  CeremonyOptions,
  PasskeySignInBody,
  ProviderView,
  SessionBody,
  SignInAnswer,
  SignInBody,
} from './schemas.ts';
import { ownSessionRoutes } from './session-list-routes.ts';
import { switchRoutes } from './switch-routes.ts';
import { createTries } from './tries.ts';
import { checkSecondFactor } from './two-factor.ts';
import { twoFactorRoutes } from './two-factor-routes.ts';
import { createWeakPasswords } from './weak-passwords.ts';

const tags = ['Sessions'];
const MEMBER = { scope: 'member', plan: 'any', role: 'analyst', console: true } as const;

/**
 * Maximum number of further workspaces that one password signs in to: anyone may add a person's email to workspaces of
 * their own.
 */
const MOST_OTHERS = 20;

/**
 * Delay before the word lists for passwords are loaded, unless a password is set earlier, so that they do not slow the
 * start. Milliseconds.
 */
const WORDS_AFTER = 10_000;

/** Registers the console's sign-in and sign-out, and the routes of a member's credentials and sessions. */
export async function sessionRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const key = createHashKey(pool);
  const tries = createTries(pool, key);
  const browsers = createKnownBrowsers(key, config.appUrl);
  const passkeys = createPasskeys(pool, config);
  const weak = createWeakPasswords();
  app.addHook('onListen', async () => {
    setTimeout(weak.load, WORDS_AFTER).unref();
  });
  const passwords = createMemberPasswords(pool, key, weak, deps.passwordCost);
  const onRequest = ownPage(config);
  const PUBLIC = { scope: 'public', plan: 'any', console: true } as const;

  app.get(
    '/session',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'session.get',
        summary: 'Get the signed-in member',
        response: { 200: SessionBody },
      },
    },
    async ({ auth }) => {
      const member = signedIn(auth);
      return describeSession(config, auth.workspace, member, await otherWorkspaces(pool, member.session.id));
    },
  );

  app.get(
    '/session/provider',
    {
      config: PUBLIC,
      schema: {
        tags,
        operationId: 'session.getProvider',
        summary: 'Get the identity provider of the sign-in, and whether passwords are reset by mail',
        response: { 200: ProviderView },
      },
    },
    async () => ({
      password_reset: config.mail !== null,
      name: config.oidc?.name ?? null,
      start: PROVIDER_START,
    }),
  );

  app.post(
    '/session',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['unauthorized', 'forbidden', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'session.signIn',
        summary: 'Sign in with email and password',
        description:
          'Sets the session cookie. After five wrong attempts in a minute for one account from one address, further ones from there get a 429 with `Retry-After` for a minute; also after 30 for the account or from the address. A browser that signed in to the account before has a count of its own, of five. With two-factor sign-in, `code` is required; without it the response has `code_required`. Wrong codes count like wrong passwords; after 100 in a row only a recovery code is accepted.',
        body: SignInBody,
        response: { 200: SignInAnswer },
      },
    },
    async (request, reply): Promise<SignInAnswer> => {
      const email = normalizeEmail(request.body.email);
      const { password, code, workspace_id: wanted = null, keep = false } = request.body;
      const browser = await browsers.idOf(request, email);
      let isCodeWrong = false;
      const found = await tries({ account: email, address: request.ip, browser }, async () => {
        const all = await passwords.holders(email, password, null);
        const holders = all.filter(({ workspace_id }) => wanted === null || workspace_id === wanted);
        const [one, ...more] = holders;
        if (!one) return null;
        const others = all.filter((other) => other !== one && !other.has_second_factor);
        // With several workspaces, the sign-in to the chosen one asks for the code.
        if (more.length > 0 || !one.has_second_factor || code === undefined) {
          return { holders, others, factor: null };
        }
        const factor = await checkSecondFactor(pool, one.member_id, code);
        isCodeWrong = factor === null;
        return factor && { holders, others, factor };
      });
      if (!found)
        throw isCodeWrong ? wrongCode() : new AppError('unauthorized', 'email or password is wrong');
      const { holders, others, factor } = found;
      const [one, ...more] = holders;
      if (!one || more.length > 0) {
        const workspaces = holders.map((holder) => ({
          id: holder.workspace_id,
          name: holder.workspace_name,
        }));
        return { session: null, code_required: false, workspaces };
      }
      if (one.has_second_factor && factor === null) {
        return { session: null, code_required: true, workspaces: [] };
      }
      const who = signingIn(one);
      const session = await beginSession(deps, request, reply, who, {
        keep,
        browsers,
        alsoProven: others.slice(0, MOST_OTHERS).map(signingIn),
        note: (tx, { workspaceId, memberId }) => {
          const isChosen = memberId === who.memberId;
          const details: Record<string, string> =
            isChosen && factor !== null ? { second_factor: factor } : {};
          return request.audit(tx, { workspaceId, memberId, details });
        },
      });
      return { session, code_required: false, workspaces: [] };
    },
  );

  app.delete(
    '/session',
    {
      config: { ...MEMBER, whileSuspended: true },
      schema: {
        tags,
        operationId: 'session.signOut',
        summary: 'Sign out',
        description: 'Of every workspace that this browser is signed in to.',
        response: { 200: Ok },
      },
    },
    async (request, reply) => {
      const { session } = signedIn(request.auth);
      await inTransaction(pool, async (tx) => {
        for (const { workspace_id: workspaceId, member_id: memberId } of await endBrowserSessions(
          tx,
          session.browser_id,
        )) {
          await request.audit(tx, { workspaceId, memberId });
        }
      });
      clearSessionCookie(reply, config.appUrl);
      return { ok: true as const };
    },
  );

  app.post(
    '/session/passkey/options',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['forbidden', 'conflict'] },
      schema: {
        tags,
        operationId: 'session.getPasskeyOptions',
        summary: 'Get the options for signing in with a passkey',
        description: 'A 409 if the host of `APP_URL` is an IP address: passkeys need a host name.',
        response: { 200: CeremonyOptions },
      },
    },
    async () => passkeys.signInOptions(),
  );

  app.post(
    '/session/passkey',
    {
      onRequest,
      config: { ...PUBLIC, errors: ['unauthorized', 'forbidden', 'conflict', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'session.signInWithPasskey',
        summary: 'Sign in with a passkey',
        body: PasskeySignInBody,
        response: { 200: SessionBody },
      },
    },
    async (request, reply) => {
      const passkey = await tries({ address: request.ip }, () => passkeys.checkSignIn(request.body.passkey));
      if (!passkey) throw new AppError('unauthorized', 'unknown passkey, or expired options; try again');
      const who = { workspaceId: passkey.workspace_id, memberId: passkey.member_id };
      return beginSession(deps, request, reply, who, { keep: request.body.keep === true, browsers });
    },
  );

  await switchRoutes(app, deps);
  await inviteRoutes(app, deps, { passkeys, passwords, browsers });
  await ownPasskeyRoutes(app, deps, { passkeys, passwords, tries });
  await ownSessionRoutes(app, deps);
  await twoFactorRoutes(app, deps, tries);
  await passwordResetRoutes(app, deps, { passwords, tries });
  await confirmRoutes(app, deps, { passkeys, tries });
}

const signingIn = ({ workspace_id, member_id, password_hash }: PasswordHolder): SigningIn => ({
  workspaceId: workspace_id,
  memberId: member_id,
  passwordHash: password_hash,
});

const wrongCode = () =>
  new AppError('unauthorized', 'the code is wrong, or was used before', [
    { path: 'code', message: 'is wrong, or was used before' },
  ]);
