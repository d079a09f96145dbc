import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KeyRestriction } from '../../core/access/key-scopes.ts';
import type { Role } from '../../core/access/roles.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { signedInAs } from '../../test/support/members.ts';

type Call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string) => Promise<number>;
type Paths = Record<string, Record<string, { operationId: string }>>;

/**
 * Permissions: each operation of the documents, below the names of all its callers. `nobody` has neither a key nor a
 * session. `secret` is a secret key without scopes and `manage`, `manage` one with both `manage` and the scope `read`.
 */
const OPERATIONS: Record<string, string> = {
  'publishable read links referrals tracking secret manage analyst operator owner': 'me.get',
  'read secret manage analyst operator owner': [
    'analytics.query annotations.list clicks.export clicks.list clicks.listImports clicks.stream savedViews.list',
    'sharedDashboards.list',
    'visitors.getJourney visitors.list webhooks.get webhooks.getDelivery webhooks.list',
    'webhooks.listDeliveries webhooks.listen workspace.get',
  ].join(' '),
  'manage owner': [
    'audit.list keys.create keys.list keys.revoke mails.list members.invite members.remove',
    'members.unlinkProvider members.update',
    'workspace.rotateIdentitySecret workspace.update',
  ].join(' '),
  'links secret operator owner': [
    'bioPages.create bioPages.delete bioPages.update bioPages.uploadPicture domains.create',
    'domains.delete domains.update domains.verify folders.create folders.delete folders.update links.create links.createBulk',
    'links.createComment links.delete links.deleteBulk links.deleteComment links.import links.update links.updateBulk links.updateQrStyle',
    'utmTemplates.create utmTemplates.delete',
  ].join(' '),
  'read links secret manage analyst operator owner': [
    'bioPages.checkAvailability bioPages.get bioPages.getStats bioPages.list bioPages.preview',
    'channels.list domains.get domains.list folders.list links.get links.getQr links.getQrStyle links.list',
    'links.listComments links.listTags links.search utmTemplates.list',
  ].join(' '),
  'secret operator owner': [
    'alerts.create alerts.delete alerts.get alerts.list alerts.listHistory alerts.update',
    'annotations.create annotations.delete clicks.import clicks.undoImport',
    'reports.create reports.delete reports.get reports.list reports.sendNow reports.update',
    'savedViews.create savedViews.delete sharedDashboards.create sharedDashboards.delete',
    'sharedDashboards.update webhooks.create webhooks.delete webhooks.redeliver',
    'webhooks.rotateSecret webhooks.test webhooks.trigger webhooks.update',
  ].join(' '),
  'tracking secret operator owner': 'pixel.clearProblems pixel.createTest track.identify track.order',
  'read tracking secret manage analyst operator owner': 'pixel.getTest pixel.problems',
  'read referrals secret manage analyst operator owner': [
    'applications.list assets.list commissions.list connections.get connections.list connections.listEvents coupons.list',
    'credits.list enrollments.get enrollments.list enrollments.listHistory fulfilments.get',
    'fulfilments.list fulfilments.listDeliveries ledger.getBalances ledger.list messages.get messages.list partnerGroups.get partnerGroups.list payouts.get',
    'payouts.list payouts.listEligible payouts.listLines programs.get programs.list programs.listTerms purchases.list',
    'referrals.getSummary signups.list',
  ].join(' '),
  'referrals secret operator owner': [
    'applications.approve applications.reject assets.create assets.delete assets.uploadPicture commissions.create commissions.reject connections.assignPurchase connections.create',
    'connections.delete connections.replayEvent connections.update coupons.create',
    'coupons.createPromotionCode coupons.delete credits.markDelivered credits.revoke',
    'enrollments.confirmPayoutMethod enrollments.delete enrollments.update fulfilments.create',
    'fulfilments.delete fulfilments.retryDelivery fulfilments.rotateSecret fulfilments.update messages.preview messages.send partnerGroups.create partnerGroups.delete partnerGroups.update payouts.cancel',
    'payouts.export payouts.failLine payouts.markPaid payouts.retryLine programs.create programs.publishTerms programs.update',
    'purchases.reevaluate referrals.import referrals.reportPurchase referrals.reportRefund signups.approve',
    'signups.reject',
  ].join(' '),
  'publishable referrals secret operator owner': [
    'referrals.enroll referrals.getStats referrals.reportSignup referrals.setPayoutMethod',
    'referrals.setRewardMode',
  ].join(' '),
  'a partner key alone': 'partnerWorkspaces.get partnerWorkspaces.provision',
  'manage analyst operator owner': 'members.list',
  'nobody publishable read links referrals tracking secret manage analyst operator owner': [
    'invitations.accept invitations.getPasskeyOptions invitations.view mails.confirm mails.unsubscribe',
    'portal.acceptTerms portal.apply portal.createChallenge portal.deleteAccount portal.getDeepLink portal.requestSignIn portal.setNotices portal.setPayoutMethod',
    'portal.signIn portal.signOut referrals.preview',
    'session.getPasskeyOptions session.getProvider session.requestPasswordReset session.resetPassword',
    'session.signIn session.signInWithPasskey session.viewPasswordReset shared.get shared.query shared.unlock',
  ].join(' '),
  'operator owner': 'enrollments.preview sampleShop.open',
  'analyst operator owner': [
    'firstSteps.hide firstSteps.list links.getDestinationIcon links.listDestinationPages passkeys.create passkeys.delete passkeys.getOptions',
    'passkeys.list problems.list sampleShop.remove session.confirm session.get session.getConfirmMethods',
    'session.setPassword session.signOut session.switch sessions.end sessions.endOthers sessions.list',
    'twoFactor.disable twoFactor.enable twoFactor.get twoFactor.replaceRecoveryCodes twoFactor.setUp',
  ].join(' '),
};

let api: TestApi;
let shop: TestWorkspace;
let callers: Record<string, Call>;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  const withKey =
    (key: string | null): Call =>
    async (method, path) =>
      (await shop.call(method, path, { key })).status;
  const secretKey = async (manage: boolean, ...scopes: KeyRestriction[]) => {
    const given = { workspaceId: shop.workspace.id, kind: 'secret', label: '', manage } as const;
    const restrictions = scopes.length > 0 ? scopes : null;
    return withKey((await createKey(api.stores.pool, { ...given, restrictions })).token);
  };
  const member = async (role: Role): Promise<Call> => {
    const browser = await signedInAs(api, shop, role);
    return async (method, path) => (await browser.call(method, path)).status;
  };
  callers = {
    nobody: withKey(null),
    publishable: withKey(shop.publishableKey),
    read: await secretKey(false, 'read'),
    links: await secretKey(false, 'links'),
    referrals: await secretKey(false, 'referrals'),
    tracking: await secretKey(false, 'tracking'),
    secret: await secretKey(false),
    manage: await secretKey(true, 'read'),
    analyst: await member('analyst'),
    operator: await member('operator'),
    owner: await member('owner'),
  };
});
afterAll(() => api.close());

/** Any id; no request gets far enough to look it up. */
const ID = '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2';

/**
 * Returns the callers of an operation. The unknown parameter is refused after the check of rights, before the operation
 * runs.
 */
async function callersOf(method: string, path: string): Promise<string[]> {
  const url = `${path.replace('/api/v1', '').replace(/\{[^}]+\}/g, ID)}?unknown=1`;
  const names = Object.keys(callers);
  const statuses = await Promise.all(
    names.map((name) => callers[name]?.(method.toUpperCase() as 'GET', url)),
  );
  for (const status of statuses)
    expect([url, [400, 401, 403].includes(status ?? 0), status]).toEqual([url, true, status]);
  return names.filter((_, n) => statuses[n] === 400);
}

test('each key and role may call what is listed, and nothing else', async () => {
  const found: Record<string, string[]> = {};
  for (const document of ['/openapi.json', '/console-openapi.json']) {
    const { body } = await shop.get<{ paths: Paths }>(document);
    for (const [path, methods] of Object.entries(body.paths)) {
      for (const [method, { operationId }] of Object.entries(methods)) {
        const who = (await callersOf(method, path)).join(' ') || 'a partner key alone';
        found[who] = [...(found[who] ?? []), operationId];
      }
    }
  }
  const sorted = Object.entries(found).map(([who, ids]) => [who, ids.sort().join(' ')]);
  expect(Object.fromEntries(sorted)).toEqual(OPERATIONS);
});
