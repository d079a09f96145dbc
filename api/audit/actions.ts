/**
 * How a call is audited. `record`: names of fields of the request whose values the entry shows; they contain no secret,
 * email or address.
 */
export type Audited = {
  action: string;
  target: string;
  record?: readonly string[];
  /** Shows the names of the sent fields, as `fields`. */
  fields?: true;
};

/** Operations of access, exports, payouts, and connected services that leave an entry, by operation id. */
export const ACCESS_OPERATIONS: Readonly<Record<string, Audited>> = {
  'session.signIn': { action: 'session.sign_in', target: 'member' },
  'session.signInWithPasskey': { action: 'session.sign_in', target: 'member' },
  'session.signInWithProvider': { action: 'session.sign_in', target: 'member' },
  'session.signOut': { action: 'session.sign_out', target: 'member' },
  'session.switch': { action: 'session.switch', target: 'member' },
  'sampleShop.open': { action: 'sample_shop.open', target: 'workspace' },
  'sampleShop.remove': { action: 'sample_shop.remove', target: 'workspace' },
  'session.resetPassword': { action: 'password.reset', target: 'member' },
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
  'members.unlinkProvider': { action: 'member.unlink', target: 'member' },
  'members.remove': { action: 'member.remove', target: 'member' },
  'keys.create': { action: 'key.create', target: 'key', record: ['kind', 'scopes', 'manage', 'expires_at'] },
  'keys.revoke': { action: 'key.revoke', target: 'key', record: ['descendants'] },
  'workspace.update': {
    action: 'workspace.update',
    target: 'workspace',
    record: [
      'name',
      'attribution_model',
      'attribution_window',
      'primary_domain',
      'currency',
      'identity_verification',
      'payout_hold_days',
      'allowed_origins',
      'language',
      'time_zone',
      'tracking',
      'retention_months',
      'default_domain',
    ],
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
  'clicks.undoImport': { action: 'clicks.undo_import', target: 'click_import' },
  'coupons.create': { action: 'coupon.create', target: 'coupon', record: ['code'] },
  'coupons.createPromotionCode': { action: 'coupon.create_promotion_code', target: 'coupon' },
  'coupons.delete': { action: 'coupon.delete', target: 'coupon' },
  'payouts.export': { action: 'payouts.export', target: 'workspace', record: ['format'] },
  'payouts.markPaid': { action: 'payout.mark_paid', target: 'payout' },
  'payouts.failLine': { action: 'payout.fail_line', target: 'payout' },
  'payouts.retryLine': { action: 'payout.retry_line', target: 'payout' },
  'payouts.cancel': { action: 'payout.cancel', target: 'payout' },
  'sharedDashboards.create': {
    action: 'shared_dashboard.create',
    target: 'shared_dashboard',
    record: ['show_revenue', 'embed', 'expires_at'],
  },
  'sharedDashboards.update': {
    action: 'shared_dashboard.update',
    target: 'shared_dashboard',
    record: ['show_revenue', 'embed', 'expires_at'],
  },
  'sharedDashboards.delete': { action: 'shared_dashboard.delete', target: 'shared_dashboard' },
  'reports.create': { action: 'report.create', target: 'report', record: ['name', 'show_revenue'] },
  'reports.update': { action: 'report.update', target: 'report', record: ['is_active'], fields: true },
  'reports.delete': { action: 'report.delete', target: 'report' },
  'reports.sendNow': { action: 'report.send_now', target: 'report' },
  'alerts.create': { action: 'alert.create', target: 'alert', record: ['name'] },
  'alerts.update': { action: 'alert.update', target: 'alert', record: ['is_active'], fields: true },
  'alerts.delete': { action: 'alert.delete', target: 'alert' },
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
  'webhooks.listen': { action: 'webhook.listen', target: 'listener' },
  'webhooks.delete': { action: 'webhook.delete', target: 'webhook' },
  'webhooks.rotateSecret': { action: 'webhook.rotate_secret', target: 'webhook' },
  'connections.create': { action: 'connection.create', target: 'connection', record: ['provider'] },
  'connections.update': { action: 'connection.update', target: 'connection' },
  'connections.delete': { action: 'connection.delete', target: 'connection' },
  'connections.replayEvent': { action: 'connection.replay_event', target: 'connection' },
  'connections.assignPurchase': {
    action: 'connection.assign_purchase',
    target: 'connection',
    record: ['partner_id'],
  },
  'audit.list': { action: 'audit_log.export', target: 'workspace' },
};

/**
 * Operations on links, pages, and referral records that leave an entry, by operation id. Creating a link, page or
 * folder leaves none, because lists show it with its time.
 */
export const RECORD_OPERATIONS: Readonly<Record<string, Audited>> = {
  'links.update': {
    action: 'link.update',
    target: 'link',
    record: ['slug', 'domain', 'archived'],
    fields: true,
  },
  'links.updateBulk': { action: 'link.update', target: 'link' },
  'links.delete': { action: 'link.delete', target: 'link' },
  'links.deleteBulk': { action: 'link.delete', target: 'link' },
  'links.updateQrStyle': { action: 'link.update_qr_style', target: 'link', fields: true },
  'links.deleteComment': { action: 'link.delete_comment', target: 'link' },
  'folders.update': { action: 'folder.update', target: 'folder' },
  'folders.delete': { action: 'folder.delete', target: 'folder' },
  'bioPages.update': {
    action: 'bio_page.update',
    target: 'bio_page',
    record: ['is_published'],
    fields: true,
  },
  'bioPages.delete': { action: 'bio_page.delete', target: 'bio_page' },
  'programs.create': {
    action: 'program.create',
    target: 'program',
    record: ['code', 'commission_type', 'commission_rate'],
  },
  'programs.publishTerms': { action: 'program.publish_terms', target: 'program', record: ['version'] },
  'programs.update': {
    action: 'program.update',
    target: 'program',
    record: [
      'code',
      'status',
      'commission_type',
      'commission_rate',
      'min_payout',
      'hold_days',
      'signups_from',
    ],
    fields: true,
  },
  'referrals.import': { action: 'referrals.import', target: 'program' },
  'enrollments.update': {
    action: 'enrollment.update',
    target: 'enrollment',
    record: ['status', 'program_id', 'commission_type', 'commission_rate'],
    fields: true,
  },
  'enrollments.confirmPayoutMethod': { action: 'enrollment.confirm_payout_method', target: 'enrollment' },
  'enrollments.preview': { action: 'enrollment.preview', target: 'enrollment' },
  'enrollments.delete': { action: 'enrollment.delete', target: 'enrollment' },
  'applications.approve': { action: 'application.approve', target: 'application' },
  'applications.reject': { action: 'application.reject', target: 'application' },
  'signups.approve': { action: 'signup.approve', target: 'signup' },
  'signups.reject': { action: 'signup.reject', target: 'signup' },
  'purchases.reevaluate': { action: 'purchase.reevaluate', target: 'purchase' },
  'commissions.create': {
    action: 'commission.create',
    target: 'commission',
    record: ['amount', 'program_id'],
  },
  'commissions.reject': { action: 'commission.reject', target: 'commission' },
  'credits.markDelivered': { action: 'credit.mark_delivered', target: 'credit' },
  'credits.revoke': { action: 'credit.revoke', target: 'credit' },
  'webhooks.redeliver': { action: 'webhook.redeliver', target: 'webhook' },
};

/** The operations that leave an entry when they succeed, by operation id. */
export const AUDITED: Readonly<Record<string, Audited>> = { ...ACCESS_OPERATIONS, ...RECORD_OPERATIONS };
