import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { readConfig } from '../../core/settings/config.ts';
import { insertApplication } from '../../sql/portal/applications.ts';
import { merchant, PAID_AT_ONCE } from '../../test/referrals/support.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { type AuditOutage, auditOutage, type Run } from '../../test/support/audit-outage.ts';
import { MAIL_ENVIRONMENT } from '../../test/support/mail-bench.ts';
import { signedInAs } from '../../test/support/members.ts';
import { AUDITED, RECORD_OPERATIONS } from './actions.ts';
import type { AuditEntry } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;
let outage: AuditOutage;
beforeAll(async () => {
  api = await testApi(() => ({
    config: readConfig(MAIL_ENVIRONMENT),
    resolveHost: async () => [{ address: '8.8.8.8', family: 4 }],
  }));
  shop = await api.addWorkspace();
  outage = await auditOutage(api);
});
afterAll(() => api.close());

let made = 0;
const unique = () => `n${++made}`;

async function link(): Promise<string> {
  const body = { destination_url: 'https://shop.example/', name: 'N', channel: 'x', external: true };
  const { links } = (await shop.post<{ links: { id: string }[] }>('/links', body)).body;
  return links[0]?.id ?? '';
}
const folder = async () => (await shop.post<{ id: string }>('/folders', { name: unique() })).body.id;
const page = async () =>
  (await shop.post<{ id: string }>('/bio-pages', { slug: `page-${unique()}` })).body.id;

/** A referrer of a new program, in a workspace of their own. */
async function referrer(program: object = PAID_AT_ONCE) {
  const workspace = await api.addWorkspace();
  const m = merchant(workspace);
  const { id: programId } = await m.program(program);
  return { workspace, m, programId, ...(await m.enroll('r')) };
}
async function heldSignup() {
  const { workspace, m, ref } = await referrer({
    credit_enabled: true,
    signup_credit: { free: 5, paid: 5 },
    review: 'signups',
  });
  await m.signup('n', { ref_code: ref });
  const { signups } = (await workspace.get<{ signups: { id: string }[] }>('/signups?status=held')).body;
  return { workspace, id: signups[0]?.id };
}
async function group() {
  const { workspace, programId } = await referrer();
  const body = { program_id: programId, name: 'N' };
  return { workspace, id: (await workspace.post<{ id: string }>('/partner-groups', body)).body.id };
}
async function application() {
  const { workspace, programId } = await referrer();
  const id = uuidv7();
  await insertApplication(api.stores.pool, {
    id,
    workspaceId: workspace.workspace.id,
    programId,
    email: 'grace@friends.example',
    name: 'Grace',
    answers: {},
    language: 'en',
    now: new Date(),
  });
  return { workspace, id };
}
async function grant() {
  const { workspace, m, ref } = await referrer({ credit_enabled: true, signup_credit: { free: 5, paid: 5 } });
  await m.signup('n', { ref_code: ref });
  const [earned] = (await m.credits('external_user_id=r')).grants;
  return { workspace, id: earned?.id };
}

/** For each audited operation: creates what it needs, and returns a call of it that may be repeated after a failure. */
const CALLS: Record<string, () => Promise<Run>> = {
  'links.update': async () => {
    const id = await link();
    return () => shop.patch(`/links/${id}`, { title: 'T', archived: true });
  },
  'links.updateBulk': async () => {
    const ids = [await link()];
    return () => shop.patch('/links/bulk', { ids, set: { archived: true } });
  },
  'links.delete': async () => {
    const id = await link();
    return () => shop.delete(`/links/${id}`);
  },
  'links.deleteBulk': async () => {
    const ids = [await link()];
    return () => shop.call('DELETE', '/links/bulk', { body: { ids } });
  },
  'links.updateQrStyle': async () => {
    const id = await link();
    return () => shop.patch(`/links/${id}/qr/style`, { frame: 'line' });
  },
  'links.deleteComment': async () => {
    const id = await link();
    const { body } = await shop.post<{ id: string }>(`/links/${id}/comments`, { text: 'T' });
    return () => shop.delete(`/links/${id}/comments/${body.id}`);
  },
  'folders.update': async () => {
    const id = await folder();
    return () => shop.patch(`/folders/${id}`, { name: unique() });
  },
  'folders.delete': async () => {
    const id = await folder();
    return () => shop.delete(`/folders/${id}`);
  },
  'bioPages.update': async () => {
    const id = await page();
    return () => shop.patch(`/bio-pages/${id}`, { title: 'T' });
  },
  'bioPages.delete': async () => {
    const id = await page();
    return () => shop.delete(`/bio-pages/${id}`);
  },
  'programs.create': async () => {
    const body = { name: 'N', code: `code-${unique()}`, destination_url: 'https://shop.example/join' };
    return () => shop.post('/programs', body);
  },
  'programs.update': async () => {
    const { id } = await merchant(shop).program();
    return () => shop.patch(`/programs/${id}`, { commission_rate: 30 });
  },
  'programs.publishTerms': async () => {
    const { id } = await merchant(shop).program();
    return () => shop.post(`/programs/${id}/terms`, { text: unique() });
  },
  'referrals.import': async () => {
    const { workspace, programId } = await referrer();
    const files = [{ name: 'partners.csv', text: 'partner_id,email\n1,ada@mail.example\n' }];
    return () => workspace.post('/referrals/import', { from: 'csv', program_id: programId, files });
  },
  'enrollments.preview': async () => {
    const { workspace, partner_id } = await referrer();
    const owner = await signedInAs(api, workspace, 'owner');
    return () => owner.call('POST', `/enrollments/${partner_id}/preview`);
  },
  'enrollments.update': async () => {
    const { workspace, partner_id } = await referrer();
    return () => workspace.patch(`/enrollments/${partner_id}`, { status: 'suspended' });
  },
  'enrollments.confirmPayoutMethod': async () => {
    const { workspace, m, partner_id } = await referrer();
    await m.address(partner_id, 'r');
    return () =>
      workspace.post(`/enrollments/${partner_id}/confirm-payout-method`, { payout_held_until: null });
  },
  'enrollments.delete': async () => {
    const { workspace, partner_id } = await referrer();
    return () => workspace.delete(`/enrollments/${partner_id}`);
  },
  'applications.approve': async () => {
    const { workspace, id } = await application();
    return () => workspace.post(`/applications/${id}/approve`, {});
  },
  'applications.reject': async () => {
    const { workspace, id } = await application();
    return () => workspace.post(`/applications/${id}/reject`);
  },
  'assets.create': async () => {
    const { workspace, programId } = await referrer();
    const asset = { program_id: programId, type: 'text', name: 'N', text: 'T' };
    return () => workspace.post('/assets', asset);
  },
  'assets.delete': async () => {
    const { workspace, programId } = await referrer();
    const asset = { program_id: programId, type: 'text', name: 'N', text: 'T' };
    const { id } = (await workspace.post<{ id: string }>('/assets', asset)).body;
    return () => workspace.delete(`/assets/${id}`);
  },
  'messages.send': async () => {
    const { workspace, programId } = await referrer();
    return () => workspace.post('/messages', { program_id: programId, subject: 'S', text: 'T' });
  },
  'partnerGroups.create': async () => {
    const { workspace, programId } = await referrer();
    return () => workspace.post('/partner-groups', { program_id: programId, name: 'N', hold_days: 3 });
  },
  'partnerGroups.update': async () => {
    const { workspace, id } = await group();
    return () => workspace.patch(`/partner-groups/${id}`, { commission_rate: 30 });
  },
  'partnerGroups.delete': async () => {
    const { workspace, id } = await group();
    return () => workspace.delete(`/partner-groups/${id}`);
  },
  'signups.approve': async () => {
    const { workspace, id } = await heldSignup();
    return () => workspace.post(`/signups/${id}/approve`);
  },
  'signups.reject': async () => {
    const { workspace, id } = await heldSignup();
    return () => workspace.post(`/signups/${id}/reject`);
  },
  'purchases.reevaluate': async () => {
    const { workspace, m, ref, programId } = await referrer({ commission_rate: 0 });
    await m.signup('n', { ref_code: ref });
    const { body } = await m.purchase('n', 'o', 100);
    await workspace.patch(`/programs/${programId}`, { commission_rate: 20 });
    return () => workspace.post(`/purchases/${body.internal_order_id}/reevaluate`);
  },
  'commissions.create': async () => {
    const { workspace } = await referrer();
    return () => workspace.post('/commissions', { external_user_id: 'r', amount: 5, note: 'bonus' });
  },
  'commissions.reject': async () => {
    const { workspace } = await referrer();
    const bonus = { external_user_id: 'r', amount: 5, note: 'bonus' };
    const { id } = (await workspace.post<{ id: string }>('/commissions', bonus)).body;
    return () => workspace.post(`/commissions/${id}/reject`);
  },
  'credits.markDelivered': async () => {
    const { workspace, id } = await grant();
    return () => workspace.post(`/credits/${id}/mark-delivered`);
  },
  'credits.revoke': async () => {
    const { workspace, id } = await grant();
    return () => workspace.post(`/credits/${id}/revoke`, { reason: 'fraud' });
  },
  'webhooks.redeliver': async () => {
    const hook = { url: `https://r.example/${unique()}`, events: ['click.created'] };
    const { id } = (await shop.post<{ id: string }>('/webhooks', hook)).body;
    const delivery = (await shop.post<{ id: string }>(`/webhooks/${id}/test`)).body;
    return () => shop.post(`/webhooks/${id}/deliveries/${delivery.id}/redeliver`);
  },
};

test('every operation on records that is audited is called here', () => {
  expect(Object.keys(CALLS).sort()).toEqual(Object.keys(RECORD_OPERATIONS).sort());
});

test.each(Object.keys(CALLS))('%s changes nothing without its entry, and writes one', async (operation) => {
  await outage.tryWithout(operation, await CALLS[operation]?.());
});

test('an entry names what was changed, and holds no text, email or address of it', async () => {
  const { workspace, partner_id: id, programId } = await referrer();
  const change = { payout_method: { method: 'paypal', email: 'hidden@pay.example' }, hidden_field: 1 };
  expect((await workspace.patch(`/enrollments/${id}`, change)).status).toBe(200);
  await workspace.patch(`/programs/${programId}`, { commission_rate: 30, name: 'a hidden name' });
  const { body, text } = await workspace.get<{ entries: AuditEntry[] }>('/audit-log?limit=2');
  expect(body.entries).toMatchObject([
    {
      actor: { type: 'key', name: 'secret' },
      action: 'program.update',
      target: { type: 'program', id: programId },
      details: { commission_rate: 30, fields: ['commission_rate', 'name'] },
    },
    {
      action: 'enrollment.update',
      target: { type: 'enrollment', id },
      details: { fields: ['payout_method'] },
    },
  ]);
  expect(text).not.toContain('hidden');
});

test('a call that changes nothing leaves no entry', async () => {
  const { workspace, id } = await grant();
  const count = async () => (await workspace.get<{ entries: unknown[] }>('/audit-log')).body.entries.length;
  await workspace.post(`/credits/${id}/mark-delivered`);
  const before = await count();
  await workspace.post(`/credits/${id}/mark-delivered`);
  await workspace.delete(`/links/${crypto.randomUUID()}`);
  await workspace.delete(`/folders/${crypto.randomUUID()}`);
  expect(await count()).toBe(before);
});

/** Operations that change something and leave no entry, by the reason. */
const WITHOUT_ENTRY = {
  'they only read': [
    'analytics.query',
    'bioPages.preview',
    'invitations.view',
    'session.viewPasswordReset',
    'shared.query',
  ],
  'a later call of the same sign-in or change leaves it': [
    'invitations.getPasskeyOptions',
    'passkeys.getOptions',
    'session.getPasskeyOptions',
    'session.requestPasswordReset',
    'twoFactor.setUp',
  ],
  'anyone may do it, and the application that it makes is listed': ['portal.apply', 'portal.createChallenge'],
  'an affiliate does it, and the history of the referrer has it': [
    'portal.acceptTerms',
    'portal.deleteAccount',
    'portal.requestSignIn',
    'portal.setNotices',
    'portal.setPayoutMethod',
    'portal.signIn',
    'portal.signOut',
  ],
  'it only returns a link': ['portal.getDeepLink'],
  'the recipient of a mail wants further ones, or none': ['mails.confirm', 'mails.unsubscribe'],
  'a visitor of a shared dashboard types its password': ['shared.unlock'],
  'what they create is listed with its time': [
    'annotations.create',
    'assets.uploadPicture',
    'links.createComment',
    'bioPages.create',
    'bioPages.uploadPicture',
    'clicks.import',
    'folders.create',
    'links.create',
    'links.createBulk',
    'links.import',
    'savedViews.create',
    'utmTemplates.create',
  ],
  'events, which have records of their own': [
    'referrals.enroll',
    'referrals.reportPurchase',
    'referrals.reportRefund',
    'referrals.reportSignup',
    'referrals.setPayoutMethod',
    'referrals.setRewardMode',
    'track.identify',
    'track.order',
  ],
  'they change what the console shows': [
    'annotations.delete',
    'firstSteps.hide',
    'pixel.clearProblems',
    'pixel.createTest',
    'savedViews.delete',
    'utmTemplates.delete',
  ],
  'it shows what would be sent': ['messages.preview'],
  'they send a test': ['webhooks.test', 'webhooks.trigger'],
};

test('every operation that changes something leaves an entry, or is listed with the reason why not', async () => {
  const documents = await Promise.all(
    ['/openapi.json', '/console-openapi.json'].map((path) =>
      shop.get<{ paths: Record<string, Record<string, { operationId: string }>> }>(path),
    ),
  );
  const operations = documents.flatMap(({ body }) =>
    Object.values(body.paths).flatMap((methods) =>
      Object.entries(methods).map(([method, { operationId: id }]) => ({ id, isRead: method === 'get' })),
    ),
  );
  const changes = operations.filter(({ isRead }) => !isRead).map(({ id }) => id);
  const audited = Object.keys(AUDITED);
  const known = [...audited, ...Object.values(WITHOUT_ENTRY).flat()];
  expect(new Set(known).size).toBe(known.length);
  // Exports and a listener only read, and the sign-in with a provider is a page that is in no document.
  const reads = audited.filter((id) =>
    /^(clicks|payouts)\.export$|^(audit|commissions|enrollments|signups)\.list$|^webhooks\.listen$|WithProvider$/.test(
      id,
    ),
  );
  expect([...changes, ...reads].sort()).toEqual(known.sort());
});
