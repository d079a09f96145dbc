import { passwordMatches } from '../../core/access/passwords.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { lockMember, passwordHashOf, setPassword } from '../../sql/console/members.ts';
import {
  deletePasskey,
  insertPasskey,
  listPasskeys,
  type PasskeyRecord,
} from '../../sql/console/passkeys.ts';
import { endOtherSessions } from '../../sql/console/sessions.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { IdParams, Ok } from '../schemas.ts';
import { agentName } from './agent-name.ts';
import { signedIn } from './caller.ts';
import type { Passkeys } from './passkeys.ts';
import type { MemberPasswords } from './passwords.ts';
import { CeremonyOptions, PasskeyBody, PasskeyList, PasskeyView, PasswordBody } from './schemas.ts';
import type { Tries } from './tries.ts';

const tags = ['Passkeys'];
const MEMBER = { scope: 'member', plan: 'any', role: 'analyst', console: true } as const;
const CHANGE = { ...MEMBER, recentSignIn: true } as const;

const view = ({ id, label, created_at, last_used_at }: PasskeyRecord) => ({
  id,
  label,
  created_at: created_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
});

/** Registers the routes of a member's own credentials: passkeys and a password. */
export async function ownPasskeyRoutes(
  app: Api,
  { pool }: ApiDeps,
  { passkeys, passwords, tries }: { passkeys: Passkeys; passwords: MemberPasswords; tries: Tries },
): Promise<void> {
  app.get(
    '/passkeys',
    {
      config: MEMBER,
      schema: {
        tags,
        operationId: 'passkeys.list',
        summary: 'List your passkeys',
        response: { 200: PasskeyList },
      },
    },
    async ({ auth }) => {
      const { id } = signedIn(auth);
      const [kept, hash] = await Promise.all([listPasskeys(pool, id), passwordHashOf(pool, id)]);
      return { passkeys: kept.map(view), has_password: hash !== null };
    },
  );

  app.post(
    '/passkeys/options',
    {
      config: { ...CHANGE, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'passkeys.getOptions',
        summary: 'Get the options for a new passkey',
        description: 'A 409 if the host of `APP_URL` is an IP address: passkeys need a host name.',
        response: { 200: CeremonyOptions },
      },
    },
    async ({ auth }) => {
      const { id: memberId, email } = signedIn(auth);
      return passkeys.creationOptions({ memberId, email, workspaceName: auth.workspace.name });
    },
  );

  app.post(
    '/passkeys',
    {
      config: { ...CHANGE, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'passkeys.create',
        summary: 'Add a passkey',
        body: PasskeyBody,
        response: { 201: PasskeyView },
      },
    },
    async (request, reply) => {
      const { auth, body, headers } = request;
      const { id: memberId } = signedIn(auth);
      const credential = await passkeys.checkNew(memberId, body.passkey);
      const kept = await inTransaction(pool, async (tx) => {
        const made = await insertPasskey(tx, {
          workspaceId: auth.workspace.id,
          memberId,
          credentialId: credential.id,
          publicKey: credential.publicKey,
          counter: credential.counter,
          transports: credential.transports,
          label: body.label ?? agentName(headers['user-agent'] ?? ''),
        });
        if (!made) throw new AppError('conflict', 'this passkey is already registered');
        await request.audit(tx, { targetId: made.id });
        return made;
      });
      return reply.status(201).send(view(kept));
    },
  );

  app.delete(
    '/passkeys/:id',
    {
      config: { ...CHANGE, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'passkeys.delete',
        summary: 'Delete a passkey',
        description: 'You cannot delete your last way to sign in (409).',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const { id: memberId } = signedIn(auth);
      await inTransaction(pool, async (tx) => {
        // Serialized: two concurrent deletions would each leave the other's passkey.
        await lockMember(tx, memberId);
        if (!(await deletePasskey(tx, memberId, params.id))) {
          throw new AppError('not_found', 'you have no such passkey');
        }
        const left = (await listPasskeys(tx, memberId)).length;
        if (left === 0 && (await passwordHashOf(tx, memberId)) === null) {
          throw new AppError('conflict', 'this passkey is your only way to sign in; set a password first');
        }
        await request.audit(tx);
      });
      return { ok: true as const };
    },
  );

  app.post(
    '/session/password',
    {
      config: { ...CHANGE, errors: ['conflict', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'session.setPassword',
        summary: 'Set or change your password',
        description:
          'Ends your other sessions. A member without an email signs in with a passkey only (409).',
        body: PasswordBody,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { auth, body, ip } = request;
      const { id, email, session } = signedIn(auth);
      if (email === null) throw new AppError('conflict', 'a password requires an account with an email');
      const hash = await passwordHashOf(pool, id);
      if (hash !== null) {
        const { current_password: current } = body;
        if (current === undefined) throw badRequest('current_password', 'is required');
        const right = await tries({ account: id, address: ip, browser: session.id }, async () =>
          (await passwordMatches(current, hash)) ? true : null,
        );
        if (!right) throw badRequest('current_password', 'is wrong');
      }
      const next = await passwords.hash(email, body.password);
      await inTransaction(pool, async (tx) => {
        await setPassword(tx, id, next);
        await endOtherSessions(tx, id, session.id);
        await request.audit(tx);
      });
      return { ok: true as const };
    },
  );
}
