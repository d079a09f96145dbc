/**
 * How a call is audited. `record`: names of fields of the request that the entry shows; they hold no secret, email or
 * address.
 */
export type Audited = { action: string; target: string; record?: readonly string[] };

/** The operations that leave an entry when they succeed, by operation id. */
export const AUDITED: Readonly<Record<string, Audited>> = {
  'session.signIn': { action: 'session.sign_in', target: 'member' },
  'session.signInWithPasskey': { action: 'session.sign_in', target: 'member' },
  'session.signInWithProvider': { action: 'session.sign_in', target: 'member' },
  'session.signOut': { action: 'session.sign_out', target: 'member' },
  'session.setPassword': { action: 'password.set', target: 'member' },
  'session.confirm': { action: 'session.confirm', target: 'member' },
  'twoFactor.enable': { action: 'two_factor.enable', target: 'member' },
  'twoFactor.disable': { action: 'two_factor.disable', target: 'member' },
  'twoFactor.replaceRecoveryCodes': { action: 'two_factor.replace_recovery_codes', target: 'member' },
  'passkeys.create': { action: 'passkey.create', target: 'passkey' },
  'passkeys.delete': { action: 'passkey.delete', target: 'passkey' },
  'sessions.end': { action: 'session.end', target: 'session' },
  'sessions.endOthers': { action: 'session.end_others', target: 'member' },
  'invitations.accept': { action: 'invite.accept', target: 'member' },
  'members.invite': { action: 'invite.create', target: 'invite', record: ['role'] },
  'members.update': { action: 'member.update', target: 'member', record: ['role'] },
  'members.remove': { action: 'member.remove', target: 'member' },
  'keys.create': { action: 'key.create', target: 'key', record: ['kind', 'scopes', 'manage', 'expires_at'] },
  'keys.revoke': { action: 'key.revoke', target: 'key', record: ['descendants'] },
  'workspace.update': {
    action: 'workspace.update',
    target: 'workspace',
    record: ['identity_verification', 'payout_hold_days', 'time_zone'],
  },
  'workspace.rotateIdentitySecret': { action: 'identity_secret.rotate', target: 'workspace' },
  'partnerWorkspaces.provision': {
    action: 'workspace.provision',
    target: 'workspace',
    record: ['rotate_key'],
  },
  'domains.create': { action: 'domain.create', target: 'domain', record: ['domain'] },
  'domains.update': { action: 'domain.update', target: 'domain', record: ['is_default'] },
  'domains.verify': { action: 'domain.verify', target: 'domain' },
  'domains.delete': { action: 'domain.delete', target: 'domain', record: ['links'] },
  'clicks.export': { action: 'clicks.export', target: 'workspace', record: ['format'] },
  'payouts.export': { action: 'payouts.export', target: 'workspace', record: ['format'] },
  'payouts.markPaid': { action: 'payout.mark_paid', target: 'payout' },
  'payouts.failLine': { action: 'payout.fail_line', target: 'payout' },
  'payouts.cancel': { action: 'payout.cancel', target: 'payout' },
  'sharedDashboards.create': {
    action: 'shared_dashboard.create',
    target: 'shared_dashboard',
    record: ['show_revenue', 'expires_at'],
  },
  'sharedDashboards.update': {
    action: 'shared_dashboard.update',
    target: 'shared_dashboard',
    record: ['show_revenue', 'expires_at'],
  },
  'sharedDashboards.delete': { action: 'shared_dashboard.delete', target: 'shared_dashboard' },
  'fulfilments.create': {
    action: 'fulfilment.create',
    target: 'fulfilment',
    record: ['provider', 'program_id', 'include_earlier'],
  },
  'fulfilments.update': { action: 'fulfilment.update', target: 'fulfilment' },
  'fulfilments.delete': { action: 'fulfilment.delete', target: 'fulfilment' },
  'fulfilments.rotateSecret': { action: 'fulfilment.rotate_secret', target: 'fulfilment' },
  'fulfilments.retryDelivery': { action: 'fulfilment.retry_delivery', target: 'fulfilment' },
  'webhooks.create': { action: 'webhook.create', target: 'webhook' },
  'webhooks.update': { action: 'webhook.update', target: 'webhook' },
  'webhooks.delete': { action: 'webhook.delete', target: 'webhook' },
  'webhooks.rotateSecret': { action: 'webhook.rotate_secret', target: 'webhook' },
  'audit.list': { action: 'audit_log.export', target: 'workspace' },
};
