import { randomUUID } from 'node:crypto';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoice, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import { createReset } from '../../sql/console/password-resets.ts';
import { linkIdentity } from '../../sql/console/provider-identities.ts';
import { beginClickImport } from '../../sql/event-log/click-imports.ts';
import { createPartner } from '../../sql/workspaces/partners.ts';
import { ago, stripeShop } from '../../test/connections/rig.ts';
import { merchant, PAID_AT_ONCE } from '../../test/referrals/support.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { type AuditOutage, auditOutage, type Run } from '../../test/support/audit-outage.ts';
import { authenticator } from '../../test/support/authenticator.ts';
import {
  type ConsoleBrowser,
  consoleBrowser,
  invite,
  PASSWORD,
  signedInAs,
} from '../../test/support/members.ts';
import { ACCESS_OPERATIONS } from './actions.ts';

let api: TestApi;
let shop: TestWorkspace;
let outage: AuditOutage;
beforeAll(async () => {
  api = await testApi(() => ({
    resolveHost: async () => [{ address: '8.8.8.8', family: 4 }],
    lookUpTxt: async () => ({ kind: 'records', values: [] }),
  }));
  shop = await api.addWorkspace();
  outage = await auditOutage(api);
});
afterAll(() => api.close());

let addresses = 0;
const address = () => `198.51.100.${++addresses}`;
const owner = () => signedInAs(api, shop, 'owner', { address: address() });
const key = () => authenticator('http://localhost:3000', 'localhost');
async function optionsOf(browser: ConsoleBrowser, path: string) {
  return (await browser.call<{ challenge: string }>('POST', path)).body;
}
async function addPasskey(browser: ConsoleBrowser, device = key()) {
  const passkey = device.create(await optionsOf(browser, '/passkeys/options'));
  return browser.call<{ id: string }>('POST', '/passkeys', { body: { passkey } });
}
const newFulfilment = async (settings: object = { url: 'https://r.example/credits' }) => {
  const { id: program_id } = await merchant(shop).program({ credit_enabled: true, referee_credit: 5 });
  return { provider: 'webhook', program_id, settings };
};
const fulfilment = async () => {
  const body = await newFulfilment();
  return { ...body, ...(await shop.post<{ id: string }>('/fulfilments', body)).body };
};
const webhook = async () =>
  (
    await shop.post<{ id: string }>('/webhooks', {
      url: `https://r.example/${++addresses}`,
      events: ['click.created'],
    })
  ).body.id;
const domain = async () =>
  (await shop.post<{ id: string }>('/domains', { domain: `d${++addresses}.example.com` })).body.id;
async function withApp() {
  const browser = await owner();
  const { secret } = (await browser.call<{ secret: string }>('POST', '/two-factor/setup')).body;
  await browser.call('POST', '/two-factor', { body: { code: generateSync({ secret }) } });
  return browser;
}
/** The body of a coupon for a new referrer. */
async function coupon() {
  const m = merchant(shop);
  await m.program();
  const external_user_id = crypto.randomUUID();
  await m.enroll(external_user_id);
  return { code: external_user_id.slice(0, 8), external_user_id };
}

async function payout() {
  const workspace = await api.addWorkspace();
  const m = merchant(workspace);
  const program = await m.program(PAID_AT_ONCE);
  const { ref, partner_id } = await m.enroll('r', { program_id: program.id });
  await m.address(partner_id, 'r', 'paypal');
  await m.signup('n', { ref_code: ref });
  await m.purchase('n', 'o', 500);
  return { workspace, m, partnerId: partner_id, id: (await m.exportPayouts()).id };
}

/** An event of a connection with a purchase of an unknown buyer. */
async function unmatched() {
  const connected = await stripeShop(api);
  await connected.program();
  const { partner_id: partnerId } = await connected.enroll('r');
  const event = stripeEvent('invoice.paid', invoice('in_1', 1_000), ago(10));
  await connected.tell(event);
  return {
    shop: connected.shop,
    partnerId,
    path: `/connections/${connected.connectionId}/events/${event.id}`,
  };
}

const CHAT = { type: 'slack', address: 'https://hooks.slack.com/services/T0/B0/X' };
const REPORT = {
  name: 'Clicks',
  query: { metrics: ['clicks'], window: { days: 7 } },
  schedule: { every: 'day', hour: 8 },
  recipients: [CHAT],
};
const ALERT = {
  name: 'No clicks',
  query: { metrics: ['clicks'] },
  condition: { metric: 'clicks', type: 'none', window_hours: 3 },
  recipients: [CHAT],
};
const made = async (path: string, body: object) => (await shop.post<{ id: string }>(path, body)).body.id;

const DASHBOARD = { name: 'Autumn', scope: { type: 'tag', values: ['autumn'] } };

/** For each audited operation: creates what it needs, and returns a call of it that may be repeated after a failure. */
const CALLS: Record<string, () => Promise<Run>> = {
  'session.signIn': async () => {
    const { email } = await owner();
    return () =>
      consoleBrowser(api, address()).call('POST', '/session', { body: { email, password: PASSWORD } });
  },
  'session.signInWithPasskey': async () => {
    const device = key();
    await addPasskey(await owner(), device);
    const browser = consoleBrowser(api, address());
    return async () => {
      const passkey = device.sign(await optionsOf(browser, '/session/passkey/options'));
      return browser.call('POST', '/session/passkey', { body: { passkey } });
    };
  },
  'session.signOut': async () => {
    const browser = await owner();
    return () => browser.call('DELETE', '/session');
  },
  'session.switch': async () => {
    const { email } = await owner();
    const second = await api.addWorkspace();
    const { id } = await signedInAs(api, second, 'owner', { email, address: address() });
    const both = consoleBrowser(api, address());
    const body = { email, password: PASSWORD, workspace_id: shop.workspace.id };
    await both.call('POST', '/session', { body });
    return () => both.call('POST', '/session/switch', { body: { member_id: id } });
  },
  'session.resetPassword': async () => {
    const { email } = await owner();
    const reset = await createReset(api.stores.pool, email);
    const body = { token: reset?.token, password: 'a longer phrase of words' };
    return () => consoleBrowser(api, address()).call('POST', '/session/password-reset/complete', { body });
  },
  'session.setPassword': async () => {
    const browser = await owner();
    const body = { current_password: PASSWORD, password: 'a longer phrase of words' };
    return () => browser.call('POST', '/session/password', { body });
  },
  'session.confirm': async () => {
    const browser = await owner();
    return () => browser.call('POST', '/session/confirm', { body: { password: PASSWORD } });
  },
  'twoFactor.enable': async () => {
    const browser = await owner();
    const { secret } = (await browser.call<{ secret: string }>('POST', '/two-factor/setup')).body;
    return () => browser.call('POST', '/two-factor', { body: { code: generateSync({ secret }) } });
  },
  'twoFactor.disable': async () => {
    const browser = await withApp();
    return () => browser.call('DELETE', '/two-factor');
  },
  'twoFactor.replaceRecoveryCodes': async () => {
    const browser = await withApp();
    return () => browser.call('POST', '/two-factor/recovery-codes');
  },
  'passkeys.create': async () => {
    const browser = await owner();
    return () => addPasskey(browser);
  },
  'passkeys.delete': async () => {
    const browser = await owner();
    const { id } = (await addPasskey(browser)).body;
    return () => browser.call('DELETE', `/passkeys/${id}`);
  },
  'sessions.end': async () => {
    const browser = await owner();
    await consoleBrowser(api, address()).call('POST', '/session', {
      body: { email: browser.email, password: PASSWORD },
    });
    const { sessions } = (
      await browser.call<{ sessions: { id: string; current: boolean }[] }>('GET', '/sessions')
    ).body;
    const id = sessions.find(({ current }) => !current)?.id;
    return () => browser.call('DELETE', `/sessions/${id}`);
  },
  'sessions.endOthers': async () => {
    const browser = await owner();
    return () => browser.call('DELETE', '/sessions');
  },
  'invitations.accept': async () => {
    const token = await invite(api, shop, { email: `i-${++addresses}@members.example` });
    const browser = consoleBrowser(api, address());
    return () => browser.call('POST', '/session/invite', { body: { token, password: PASSWORD } });
  },
  'members.invite': async () => () =>
    shop.post('/members/invites', { email: 'one@members.example', role: 'owner' }),
  'members.update': async () => {
    await owner();
    const { id } = await owner();
    return () => shop.patch(`/members/${id}`, { role: 'analyst' });
  },
  'members.remove': async () => {
    await owner();
    const { id } = await owner();
    return () => shop.delete(`/members/${id}`);
  },
  'members.unlinkProvider': async () => {
    const { id } = await owner();
    const given = { workspaceId: shop.workspace.id, memberId: id, issuer: 'https://id.example', subject: id };
    await linkIdentity(api.stores.pool, given);
    return () => shop.delete(`/members/${id}/provider-link`);
  },
  'keys.create': async () => () => shop.post('/keys', { kind: 'secret' }),
  'keys.revoke': async () => {
    const { id } = (await shop.post<{ id: string }>('/keys', { kind: 'secret' })).body;
    return () => shop.delete(`/keys/${id}`);
  },
  'workspace.update': async () => () => shop.patch('/workspace', { payout_hold_days: 11 }),
  'workspace.rotateIdentitySecret': async () => () => shop.post('/identity-secret'),
  'partnerWorkspaces.provision': async () => {
    const { token } = await createPartner(api.stores.pool, 'Platform');
    return () => shop.post('/partner/workspaces', { external_id: 'one', name: 'N' }, { key: token });
  },
  'domains.create': async () => () =>
    shop.post('/domains', { domain: 'made.example.com' }, { headers: { 'idempotency-key': 'd' } }),
  'domains.update': async () => {
    const id = await domain();
    return () => shop.patch(`/domains/${id}`, { root_url: 'https://shop.example/' });
  },
  'domains.verify': async () => {
    const id = await domain();
    return () => shop.post(`/domains/${id}/verify`);
  },
  'domains.delete': async () => {
    const id = await domain();
    return () => shop.delete(`/domains/${id}`);
  },
  'commissions.list': async () => () => shop.get('/commissions?format=csv'),
  'enrollments.list': async () => () => shop.get('/enrollments?format=csv'),
  'signups.list': async () => () => shop.get('/signups?format=csv'),
  'clicks.export': async () => () => shop.get('/clicks/export?format=csv'),
  'payouts.export': async () => () => shop.get('/payouts/export?format=csv'),
  'coupons.create': async () => {
    const body = await coupon();
    return () => shop.post('/coupons', body);
  },
  'coupons.createPromotionCode': async () => {
    await shop.post('/connections', { provider: 'stripe', restricted_key: 'rk_test_of_coupons' });
    const { id } = (await shop.post<{ id: string }>('/coupons', await coupon())).body;
    return () => shop.post(`/coupons/${id}/promotion-code`, { percent_off: 10 });
  },
  'coupons.delete': async () => {
    const { id } = (await shop.post<{ id: string }>('/coupons', await coupon())).body;
    return () => shop.delete(`/coupons/${id}`);
  },
  'payouts.markPaid': async () => {
    const { m, id } = await payout();
    return () => m.pay(id);
  },
  'payouts.failLine': async () => {
    const { m, id, partnerId } = await payout();
    await m.pay(id);
    return () => m.fail(id, partnerId);
  },
  'payouts.retryLine': async () => {
    const { workspace, m, id, partnerId } = await payout();
    await m.pay(id);
    await m.fail(id, partnerId);
    return () => workspace.post(`/payouts/${id}/lines/${partnerId}/retry`);
  },
  'payouts.cancel': async () => {
    const { workspace, id } = await payout();
    return () => workspace.delete(`/payouts/${id}`);
  },
  'sharedDashboards.create': async () => () => shop.post('/shared-dashboards', DASHBOARD),
  'sharedDashboards.update': async () => {
    const { id } = (await shop.post<{ id: string }>('/shared-dashboards', DASHBOARD)).body;
    return () => shop.patch(`/shared-dashboards/${id}`, { show_revenue: true });
  },
  'sharedDashboards.delete': async () => {
    const { id } = (await shop.post<{ id: string }>('/shared-dashboards', DASHBOARD)).body;
    return () => shop.delete(`/shared-dashboards/${id}`);
  },
  'reports.create': async () => () => shop.post('/reports', REPORT),
  'reports.update': async () => {
    const id = await made('/reports', REPORT);
    return () => shop.patch(`/reports/${id}`, { name: 'All clicks' });
  },
  'reports.delete': async () => {
    const id = await made('/reports', REPORT);
    return () => shop.delete(`/reports/${id}`);
  },
  'reports.sendNow': async () => {
    const id = await made('/reports', REPORT);
    return () => shop.post(`/reports/${id}/send-now`);
  },
  'alerts.create': async () => () => shop.post('/alerts', ALERT),
  'alerts.update': async () => {
    const id = await made('/alerts', ALERT);
    return () => shop.patch(`/alerts/${id}`, { name: 'Silence' });
  },
  'alerts.delete': async () => {
    const id = await made('/alerts', ALERT);
    return () => shop.delete(`/alerts/${id}`);
  },
  'fulfilments.create': async () => {
    const body = await newFulfilment();
    return () => shop.post('/fulfilments', body, { headers: { 'idempotency-key': 'f' } });
  },
  'fulfilments.update': async () => {
    const { id } = await fulfilment();
    return () => shop.patch(`/fulfilments/${id}`, { settings: { url: 'https://r.example/new' } });
  },
  'fulfilments.delete': async () => {
    const { id } = await fulfilment();
    return () => shop.delete(`/fulfilments/${id}`);
  },
  'fulfilments.rotateSecret': async () => {
    const { id } = await fulfilment();
    return () => shop.post(`/fulfilments/${id}/rotate-secret`);
  },
  'fulfilments.retryDelivery': async () => {
    const { id, program_id } = await fulfilment();
    const { ref } = await merchant(shop).enroll('credited', { program_id });
    await merchant(shop).signup('credited-referee', { ref_code: ref });
    const { body } = await shop.get<{ deliveries: { id: string }[] }>(`/fulfilments/${id}/deliveries`);
    return () => shop.post(`/fulfilments/${id}/deliveries/${body.deliveries[0]?.id}/retry`);
  },
  'connections.create': async () => () => shop.post('/connections', { provider: 'stripe' }),
  'connections.update': async () => {
    const { shop: connected, connectionId: id } = await stripeShop(api);
    return () => connected.patch(`/connections/${id}`, { signing_secret: 'whsec_new' });
  },
  'connections.delete': async () => {
    const { shop: connected, connectionId: id } = await stripeShop(api);
    return () => connected.delete(`/connections/${id}`);
  },
  'connections.replayEvent': async () => {
    const { shop: connected, path } = await unmatched();
    return () => connected.post(`${path}/replay`);
  },
  'connections.assignPurchase': async () => {
    const { shop: connected, path, partnerId } = await unmatched();
    return () => connected.post(`${path}/assign`, { partner_id: partnerId });
  },
  'webhooks.create': async () => () =>
    shop.post(
      '/webhooks',
      { url: 'https://r.example/new', events: ['click.created'] },
      { headers: { 'idempotency-key': 'w' } },
    ),
  'webhooks.update': async () => {
    const id = await webhook();
    return () => shop.patch(`/webhooks/${id}`, { events: ['sale.created'] });
  },
  'webhooks.delete': async () => {
    const id = await webhook();
    return () => shop.delete(`/webhooks/${id}`);
  },
  'webhooks.rotateSecret': async () => {
    const id = await webhook();
    return () => shop.post(`/webhooks/${id}/rotate-secret`);
  },
  'clicks.undoImport': async () => {
    const id = randomUUID();
    await beginClickImport(api.stores.pool, { id, workspaceId: shop.workspace.id, source: 'csv' });
    return () => shop.delete(`/clicks/imports/${id}`);
  },
  'audit.list': async () => () => shop.get('/audit-log?format=ndjson'),
};

test('every operation of access that is audited is called here', () => {
  // The sign-in with a provider is tested with one, in session/provider.test.ts. A sample shop is made and removed by
  // many operations, and its entry is of the last one: sample-shop/sample-shop.test.ts.
  const called = [
    ...Object.keys(CALLS),
    'session.signInWithProvider',
    // The response to a listener does not end: test/sdk/kills.test.ts.
    'webhooks.listen',
    'sampleShop.open',
    'sampleShop.remove',
  ];
  expect(called.sort()).toEqual(Object.keys(ACCESS_OPERATIONS).sort());
});

test.each(Object.keys(CALLS))('%s changes nothing without its entry, and writes one', async (operation) => {
  await outage.tryWithout(operation, await CALLS[operation]?.());
});
