import { insertPasskey } from '../../sql/console/passkeys.ts';
import type { TestApi, TestWorkspace } from './api.ts';
import type { Attempts } from './attempt.ts';
import { PASSWORD, signedInAs } from './members.ts';

/** Endpoints for signing in and of links in mails, which need no key. */
export const OPEN = [
  'POST /api/v1/session',
  'GET /api/v1/session/provider',
  'POST /api/v1/session/invite',
  'POST /api/v1/session/invite/view',
  'POST /api/v1/session/invite/passkey-options',
  'POST /api/v1/session/password-reset',
  'POST /api/v1/session/password-reset/view',
  'POST /api/v1/session/password-reset/complete',
  'POST /api/v1/mails/unsubscribe',
  'POST /api/v1/mails/confirm',
  'POST /api/v1/session/passkey',
  'POST /api/v1/session/passkey/options',
  'POST /api/v1/portal/challenges',
  'POST /api/v1/portal/applications',
  'POST /api/v1/portal/sign-in',
  'POST /api/v1/portal/sign-in/complete',
  'POST /api/v1/portal/sign-out',
  'POST /api/v1/portal/payout-method',
  'POST /api/v1/portal/notices',
  'POST /api/v1/portal/terms',
  'POST /api/v1/portal/links',
  'POST /api/v1/portal/delete-account',
  'GET /api/v1/referrals/preview',
  'GET /api/v1/shared/{token}',
  'POST /api/v1/shared/{token}/query',
  'POST /api/v1/shared/{token}/unlock',
];

const NO_TOKEN = 'A'.repeat(43);

const passkeyAnswer = (id: string) => ({
  id,
  rawId: id,
  type: 'public-key',
  response: { clientDataJSON: 'e30', attestationObject: '', authenticatorData: '', signature: '' },
});

/** Like `ATTEMPTS`, for members, sign-in, sessions and passkeys. */
export const MEMBER_ATTEMPTS: Attempts = {
  'GET /api/v1/session': () => [{ path: '/session', status: 200, as: 'member' }],
  'POST /api/v1/session': (victim) => [
    { path: '/session', body: { email: victim.memberEmail, password: 'a wrong password' }, status: 401 },
  ],
  'DELETE /api/v1/session': () => [{ path: '/session', status: 401 }],
  'POST /api/v1/session/invite': () => [
    { path: '/session/invite', body: { token: NO_TOKEN, password: PASSWORD }, status: 401 },
  ],
  'POST /api/v1/session/invite/view': () => [
    { path: '/session/invite/view', body: { token: NO_TOKEN }, status: 401 },
  ],
  'POST /api/v1/session/invite/passkey-options': (victim) => [
    {
      path: '/session/invite/passkey-options',
      body: { token: NO_TOKEN, email: victim.memberEmail },
      status: 401,
    },
  ],
  'POST /api/v1/session/password-reset': (victim) => [
    { path: '/session/password-reset', body: { email: victim.memberEmail }, status: 202 },
  ],
  'POST /api/v1/session/password-reset/view': () => [
    { path: '/session/password-reset/view', body: { token: NO_TOKEN }, status: 401 },
  ],
  'POST /api/v1/session/password-reset/complete': () => [
    {
      path: '/session/password-reset/complete',
      body: { token: NO_TOKEN, password: 'thiefs-password' },
      status: 401,
    },
  ],
  'GET /api/v1/mails': () => [
    { path: '/mails', status: 200 },
    { path: '/mails', status: 200, as: 'member' },
  ],
  'POST /api/v1/mails/confirm': () => [{ path: `/mails/confirm?token=${NO_TOKEN}`, status: 400 }],
  'POST /api/v1/mails/unsubscribe': () => [{ path: `/mails/unsubscribe?token=${NO_TOKEN}`, status: 400 }],
  'POST /api/v1/session/passkey': (victim) => [
    { path: '/session/passkey', body: { passkey: passkeyAnswer(victim.passkey) }, status: 401 },
  ],
  'POST /api/v1/session/passkey/options': () => [{ path: '/session/passkey/options', status: 200 }],
  'POST /api/v1/session/switch': (victim) => [
    { path: '/session/switch', body: { member_id: victim.member }, status: 404, as: 'member' },
  ],
  'POST /api/v1/session/password': () => [
    {
      path: '/session/password',
      body: { current_password: 'a wrong password', password: 'thiefs-password' },
      status: 400,
      as: 'member',
    },
  ],
  'GET /api/v1/first-steps': () => [{ path: '/first-steps', status: 200, as: 'member' }],
  'PATCH /api/v1/first-steps': () => [
    { path: '/first-steps', body: { hidden_for: 'none' }, status: 200, as: 'member' },
  ],
  'POST /api/v1/sample-shop': (victim) => [
    { path: `/sample-shop?member_id=${victim.member}`, status: 400, as: 'member' },
  ],
  'DELETE /api/v1/sample-shop': () => [{ path: '/sample-shop', status: 200, as: 'member' }],
  'GET /api/v1/problems': () => [{ path: '/problems', status: 200, as: 'member' }],
  'GET /api/v1/sessions': () => [{ path: '/sessions', status: 200, as: 'member' }],
  'DELETE /api/v1/sessions': () => [{ path: '/sessions', status: 200, as: 'member' }],
  'DELETE /api/v1/sessions/{id}': (victim) => [
    { path: `/sessions/${victim.session}`, status: 404, as: 'member' },
  ],
  'GET /api/v1/passkeys': () => [{ path: '/passkeys', status: 200, as: 'member' }],
  'POST /api/v1/passkeys': (victim) => [
    { path: '/passkeys', body: { passkey: passkeyAnswer(victim.passkey) }, status: 400, as: 'member' },
  ],
  'POST /api/v1/passkeys/options': () => [{ path: '/passkeys/options', status: 200, as: 'member' }],
  'DELETE /api/v1/passkeys/{id}': (victim) => [
    { path: `/passkeys/${victim.passkeyId}`, status: 404, as: 'member' },
  ],
  'GET /api/v1/session/provider': () => [{ path: '/session/provider', status: 200 }],
  'GET /api/v1/session/confirm': () => [{ path: '/session/confirm', status: 200, as: 'member' }],
  'POST /api/v1/session/confirm': (victim) => [
    { path: '/session/confirm', body: { passkey: passkeyAnswer(victim.passkey) }, status: 400, as: 'member' },
  ],
  'GET /api/v1/two-factor': () => [{ path: '/two-factor', status: 200, as: 'member' }],
  'POST /api/v1/two-factor/setup': () => [{ path: '/two-factor/setup', status: 200, as: 'member' }],
  'POST /api/v1/two-factor': () => [
    { path: '/two-factor', body: { code: '000000' }, status: 400, as: 'member' },
  ],
  'POST /api/v1/two-factor/recovery-codes': () => [
    { path: '/two-factor/recovery-codes', status: 409, as: 'member' },
  ],
  'DELETE /api/v1/two-factor': () => [{ path: '/two-factor', status: 409, as: 'member' }],
  'GET /api/v1/members': () => [{ path: '/members', status: 200 }],
  'POST /api/v1/members/invites': (victim) => [
    { path: '/members/invites', body: { email: victim.memberEmail, role: 'owner' }, status: 201 },
  ],
  'PATCH /api/v1/members/{id}': (victim) => [
    { path: `/members/${victim.member}`, body: { role: 'analyst' }, status: 404 },
    { path: `/members/${victim.member}`, body: { role: 'analyst' }, status: 404, as: 'member' },
  ],
  'DELETE /api/v1/members/{id}': (victim) => [
    { path: `/members/${victim.member}`, status: 404 },
    { path: `/members/${victim.member}`, status: 404, as: 'member' },
  ],
  'DELETE /api/v1/members/{id}/provider-link': (victim) => [
    { path: `/members/${victim.member}/provider-link`, status: 404 },
    { path: `/members/${victim.member}/provider-link`, status: 404, as: 'member' },
  ],
};

/** Adds a member with a session and a passkey to the owner's workspace. */
export async function plantMember(api: TestApi, owner: TestWorkspace, label: string) {
  const memberEmail = 'member@victim.example';
  const member = await signedInAs(api, owner, 'owner', { email: memberEmail });
  const { body } = await member.call<{ sessions: { id: string }[] }>('GET', '/sessions');
  const passkey = 'victims-passkey';
  const kept = await insertPasskey(api.stores.pool, {
    workspaceId: owner.workspace.id,
    memberId: member.id,
    credentialId: passkey,
    publicKey: Buffer.alloc(32),
    counter: 0,
    transports: [],
    label,
  });
  return {
    member: member.id,
    memberEmail,
    session: body.sessions[0]?.id ?? '',
    passkey,
    passkeyId: kept?.id ?? '',
  };
}
