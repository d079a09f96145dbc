import { uuidv7 } from '../../core/ids.ts';
import { insertEvent } from '../../sql/connections/events.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { beginClickImport } from '../../sql/event-log/click-imports.ts';
import {
  destinationPages,
  storeDestinationPage,
  wantDestinationPages,
} from '../../sql/links/destination-pages.ts';
import { acceptTerms } from '../../sql/portal/accepted-terms.ts';
import { insertApplication } from '../../sql/portal/applications.ts';
import { insertMessage } from '../../sql/portal/messages.ts';
import { merchant } from '../referrals/support.ts';
import type { TestApi, TestWorkspace } from './api.ts';
import { makeDomain } from './domains.ts';
import { plantMember } from './member-attempts.ts';
import { plainPng } from './scanned-images.ts';

/** The other workspace's data, by name. Each value differs from everything that the caller has or sends. */
export type Victim = {
  link: string;
  clickImport: string;
  destination: string;
  folder: string;
  /** A comment on the link. */
  comment: string;
  /** An icon of the destination. */
  icon: string;
  domain: string;
  domainName: string;
  visitor: string;
  externalId: string;
  slug: string;
  orderId: string;
  program: string;
  programCode: string;
  /** Slug of a referrer's link. */
  refCode: string;
  partner: string;
  referrer: string;
  grant: number;
  signup: string;
  application: string;
  /** A text of the program. */
  asset: string;
  group: string;
  message: string;
  internalOrder: number;
  commission: string;
  coupon: string;
  couponCode: string;
  payoutExport: string;
  fulfilment: string;
  creditDelivery: string;
  webhook: string;
  delivery: string;
  connection: string;
  bioPage: string;
  bioSlug: string;
  key: string;
  member: string;
  memberEmail: string;
  /** The member's session. */
  session: string;
  passkeyId: string;
  savedView: string;
  annotation: string;
  utmTemplate: string;
  pixelTest: string;
  dashboard: string;
  report: string;
  alert: string;
  /** Token of the dashboard, which has a password. */
  dashboardToken: string;
  /** The credential's id. */
  passkey: string;
};

/** Part of the names, tags, cities and addresses of all planted data. */
export const SECRET_NAME = 'victims-secret-name';

/** Creates one record of each kind for the owner. */
export async function plantVictim(api: TestApi, owner: TestWorkspace): Promise<Victim> {
  const folder = await owner.post<{ id: string }>('/folders', { name: SECRET_NAME });
  const created = await owner.post<{ destination_id: string; links: { id: string }[] }>('/links', {
    destination_url: 'https://victim.example/secret-path',
    name: SECRET_NAME,
    channel: 'reddit',
    slug: 'victims-slug',
    external_id: 'victims-external-id',
    folder_id: folder.body.id,
    tags: [SECRET_NAME],
    metadata: { secret: SECRET_NAME },
  });
  const link = created.body.links[0]?.id ?? '';
  const url = 'https://victim.example/secret-path';
  const image = plainPng(1, 1, [0, 0, 0, 255]);
  await wantDestinationPages(api.stores.pool, owner.workspace.id, [url]);
  const due = { workspaceId: owner.workspace.id, url };
  const fetched = { title: SECRET_NAME, icon: { type: 'image/png' as const, image } };
  await storeDestinationPage(api.stores.pool, due, fetched);
  const [page] = await destinationPages(api.stores.pool, owner.workspace.id, [url]);
  const comment = await owner.post<{ id: string }>(`/links/${link}/comments`, { text: SECRET_NAME });
  const bioSlug = 'victims-page';
  const bioPage = await owner.post<{ id: string }>('/bio-pages', {
    slug: bioSlug,
    title: SECRET_NAME,
    external_id: 'victims-external-id',
    links: [{ id: 'same', label: SECRET_NAME, url: 'https://victim.example/secret-path' }],
  });
  const visitor = crypto.randomUUID();
  const row = { workspace_id: owner.workspace.id, ts: '2026-11-20 10:00:00.000000000', visitor_id: visitor };
  const insert = (table: string, values: object) =>
    api.stores.clickhouse.insert({ table, values: [values], format: 'JSONEachRow' });
  await insert('clicks', { ...row, link_id: link, channel: 'reddit', city: SECRET_NAME });
  await insert('identifies', { ...row, email: `${SECRET_NAME}@victim.example` });
  await insert('orders', {
    ...row,
    order_id: 'victims-order',
    version: 1,
    amount_minor: 100,
    currency: 'usd',
  });
  const clickImport = crypto.randomUUID();
  await beginClickImport(api.stores.pool, {
    id: clickImport,
    workspaceId: owner.workspace.id,
    source: 'csv',
  });
  const pixelTest = await owner.post<{ id: string }>('/pixel/tests', { url: 'https://victim.example/' });
  const savedView = await owner.post<{ id: string }>('/saved-views', {
    name: SECRET_NAME,
    query: { filters: [{ dimension: 'tag', operator: 'is', values: [SECRET_NAME] }] },
  });
  const utmTemplate = await owner.post<{ id: string }>('/utm-templates', {
    name: SECRET_NAME,
    utm_source: SECRET_NAME,
  });
  const annotation = await owner.post<{ id: string }>('/annotations', {
    at: '2026-11-20',
    text: SECRET_NAME,
  });
  const report = await owner.post<{ id: string }>('/reports', {
    name: SECRET_NAME,
    query: {},
    schedule: { every: 'day', hour: 8 },
    recipients: [{ type: 'slack', address: `https://203.0.114.7/${SECRET_NAME}` }],
  });
  const alert = await owner.post<{ id: string }>('/alerts', {
    name: SECRET_NAME,
    query: {},
    condition: { metric: 'clicks', type: 'none', window_hours: 1 },
    recipients: [{ type: 'slack', address: `https://203.0.114.7/${SECRET_NAME}` }],
  });
  const dashboard = await owner.post<{ id: string; token: string }>('/shared-dashboards', {
    name: SECRET_NAME,
    password: 'victims-dashboard',
  });
  const domainName = 'go.victim.example';
  const domain = await makeDomain(api.stores.pool, owner.workspace.id, domainName, {
    root_url: `https://victim.example/${SECRET_NAME}`,
  });
  return {
    domain: domain.id,
    domainName,
    clickImport,
    savedView: savedView.body.id,
    annotation: annotation.body.id,
    comment: comment.body.id,
    icon: page?.iconId ?? '',
    utmTemplate: utmTemplate.body.id,
    pixelTest: pixelTest.body.id,
    dashboard: dashboard.body.id,
    report: report.body.id,
    alert: alert.body.id,
    dashboardToken: dashboard.body.token,
    ...(await plantReferrals(api, owner)),
    ...(await plantWebhook(owner)),
    connection: await plantConnection(api, owner),
    ...(await plantMember(api, owner, SECRET_NAME)),
    link,
    destination: created.body.destination_id,
    folder: folder.body.id,
    bioPage: bioPage.body.id,
    key: (await owner.post<{ id: string }>('/keys', { kind: 'secret', label: SECRET_NAME })).body.id,
    bioSlug,
    visitor,
    externalId: 'victims-external-id',
    slug: 'victims-slug',
    orderId: 'victims-order',
  };
}

async function plantReferrals(api: TestApi, owner: TestWorkspace) {
  const shop = merchant(owner);
  const programCode = 'victims-code';
  const referrer = 'victims-referrer';
  const program = await shop.program({
    name: SECRET_NAME,
    code: programCode,
    destination_url: 'https://victim.example/join',
    credit_enabled: true,
    signup_credit: { free: 5, paid: 5 },
  });
  const enrolled = await shop.enroll(referrer, { email: `${SECRET_NAME}@victim.example` });
  await shop.signup('victims-referee', { ref_code: enrolled.ref });
  const purchase = await shop.purchase('victims-referee', 'victims-purchase', 100);
  const { signups } = (await owner.get<{ signups: { id: string }[] }>('/signups')).body;
  const { grants } = await shop.credits(`external_user_id=${referrer}`);
  const [grant] = grants;
  if (!grant) throw new Error('the victim has no grant');
  await shop.address(enrolled.partner_id, SECRET_NAME);
  const bonus = { external_user_id: referrer, amount: 10, note: SECRET_NAME };
  const commission = await owner.post<{ id: string }>('/commissions', bonus);
  const couponCode = `${SECRET_NAME}-20`;
  const coupon = await owner.post<{ id: string }>('/coupons', {
    code: couponCode,
    external_user_id: referrer,
  });
  const application = uuidv7();
  await insertApplication(api.stores.pool, {
    id: application,
    workspaceId: owner.workspace.id,
    programId: program.id,
    email: `${SECRET_NAME}@applicant.example`,
    name: SECRET_NAME,
    answers: { site: SECRET_NAME },
    language: 'en',
    now: new Date(),
  });
  const accepting = { workspaceId: owner.workspace.id, programId: program.id, applicationId: application };
  const accept = (version: string) =>
    acceptTerms(api.stores.pool, { ...accepting, enrollmentId: null }, version, new Date());
  await owner.post(`/programs/${program.id}/terms`, { text: SECRET_NAME });
  await accept('1');
  const group = await owner.post<{ id: string }>('/partner-groups', {
    program_id: program.id,
    name: SECRET_NAME,
    commission_rate: 30,
  });
  const message = uuidv7();
  await insertMessage(
    api.stores.pool,
    {
      id: message,
      workspaceId: owner.workspace.id,
      programId: program.id,
      groupId: null,
      subject: SECRET_NAME,
      text: SECRET_NAME,
      leftOut: { suspended: 0, no_email: 0, unsubscribed: 0 },
      sentBy: 'test',
      now: new Date(),
    },
    [{ enrollmentId: enrolled.partner_id, mailId: uuidv7() }],
  );
  const asset = await owner.post<{ id: string }>('/assets', {
    program_id: program.id,
    type: 'text',
    name: SECRET_NAME,
    text: SECRET_NAME,
  });
  const payouts = await owner.get('/payouts/export');
  // Accepted after the file: not in the chain yet.
  await owner.post(`/programs/${program.id}/terms`, { url: `https://victim.example/${SECRET_NAME}` });
  await accept('2');
  const fulfilment = await owner.post<{ id: string }>('/fulfilments', {
    provider: 'webhook',
    program_id: program.id,
    settings: { url: 'https://8.8.8.8/secret-path' },
    include_earlier: true,
  });
  const creditDeliveries = await owner.get<{ deliveries: { id: string }[] }>(
    `/fulfilments/${fulfilment.body.id}/deliveries`,
  );
  return {
    program: program.id,
    programCode,
    referrer,
    refCode: enrolled.ref,
    partner: enrolled.partner_id,
    grant: grant.id,
    signup: signups[0]?.id ?? '',
    application,
    asset: asset.body.id,
    group: group.body.id,
    message,
    internalOrder: purchase.body.internal_order_id,
    commission: commission.body.id,
    coupon: coupon.body.id,
    couponCode,
    payoutExport: String(payouts.headers['x-export-id']),
    fulfilment: fulfilment.body.id,
    creditDelivery: creditDeliveries.body.deliveries[0]?.id ?? '',
  };
}

async function plantWebhook(owner: TestWorkspace) {
  const webhook = await owner.post<{ id: string }>('/webhooks', {
    url: 'https://8.8.8.8/secret-path',
    events: ['click.created'],
    description: SECRET_NAME,
  });
  const delivery = await owner.post<{ id: string }>(`/webhooks/${webhook.body.id}/test`);
  return { webhook: webhook.body.id, delivery: delivery.body.id };
}

/** Creates a Stripe account with a received event. */
async function plantConnection(api: TestApi, owner: TestWorkspace): Promise<string> {
  const { id } = (
    await owner.post<{ id: string }>('/connections', {
      provider: 'stripe',
      signing_secret: `whsec_${SECRET_NAME}`,
    })
  ).body;
  await inTransaction(api.stores.pool, (tx) =>
    insertEvent(tx, {
      workspaceId: owner.workspace.id,
      connectionId: id,
      eventId: 'evt_victims',
      type: SECRET_NAME,
      customerKey: null,
      body: '{}',
    }),
  );
  return id;
}
