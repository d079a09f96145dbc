import type { Api, ApiDeps } from '../dependencies.ts';
import { acceptInvite, emailOf, requireInvite } from './accept.ts';
import { beginSession } from './begin.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { ownPage } from './own-origin.ts';
import type { Passkeys } from './passkeys.ts';
import type { MemberPasswords } from './passwords.ts';
import {
  AcceptBody,
  CeremonyOptions,
  InvitePasskeyBody,
  InviteToken,
  InviteView,
  SessionBody,
} from './schemas.ts';

const tags = ['Invitations'];

/**
 * Registers the routes of an invitation's link: showing it, and accepting it with a password or a passkey.
 */
export async function inviteRoutes(
  app: Api,
  deps: ApiDeps,
  {
    passkeys,
    passwords,
    browsers,
  }: { passkeys: Passkeys; passwords: MemberPasswords; browsers: KnownBrowsers },
): Promise<void> {
  const { pool, config } = deps;
  const PUBLIC = {
    scope: 'public',
    plan: 'any',
    console: true,
    errors: ['unauthorized', 'forbidden'],
  } as const;

  app.post(
    '/session/invite/view',
    {
      onRequest: ownPage(config),
      config: { ...PUBLIC, errors: [...PUBLIC.errors] },
      schema: {
        tags,
        operationId: 'invitations.view',
        summary: 'Get the invitation of a token',
        body: InviteToken,
        response: { 200: InviteView },
      },
    },
    async ({ body }) => {
      const { workspace_name: name, email, role, expires_at } = await requireInvite(pool, body.token);
      return { workspace: { name }, email, role, expires_at: expires_at.toISOString() };
    },
  );

  app.post(
    '/session/invite/passkey-options',
    {
      onRequest: ownPage(config),
      config: { ...PUBLIC, errors: [...PUBLIC.errors, 'conflict'] },
      schema: {
        tags,
        operationId: 'invitations.getPasskeyOptions',
        summary: 'Get the options for a passkey that accepts an invitation',
        body: InvitePasskeyBody,
        response: { 200: CeremonyOptions },
      },
    },
    async ({ body }) => {
      const invite = await requireInvite(pool, body.token);
      return passkeys.creationOptions({
        memberId: invite.member_id,
        email: emailOf(invite, body.email),
        workspaceName: invite.workspace_name,
      });
    },
  );

  app.post(
    '/session/invite',
    {
      onRequest: ownPage(config),
      config: { ...PUBLIC, errors: [...PUBLIC.errors, 'conflict'] },
      schema: {
        tags,
        operationId: 'invitations.accept',
        summary: 'Accept an invitation',
        description:
          'With a `password`, or with a `passkey` created from the options. Creates the member and signs in. An invitation for the email of an existing member signs that member in, adds the passkey or replaces the password, and ends the other sessions.',
        body: AcceptBody,
        response: { 200: SessionBody },
      },
    },
    async (request, reply) => {
      const who = await acceptInvite({ pool, config, passkeys, passwords }, request.body, request);
      return beginSession(deps, request, reply, who, {
        browsers,
        isExpected: true,
        keep: request.body.keep === true,
        note: async () => undefined,
      });
    },
  );
}
