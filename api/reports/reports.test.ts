import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { MAIL_ENVIRONMENT, startMailer } from '../../test/support/mail-bench.ts';
import { linkIn, startMailServer } from '../../test/support/mail-server.ts';
import { consoleBrowser, signedInAs } from '../../test/support/members.ts';
import type { ReportRecord } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;
beforeAll(async () => {
  api = await testApi(() => ({
    config: readConfig({ ...MAIL_ENVIRONMENT, SHORT_URL: 'https://hop.example' }),
    resolveHost: async (host) => [
      { address: host.includes('private') ? '10.0.0.7' : '8.8.8.8', family: 4 as const },
    ],
  }));
});
beforeEach(async () => {
  shop = await api.addWorkspace({ name: 'Corner Shop', time_zone: 'Europe/Berlin' });
});
afterAll(() => api.close());

const SLACK = { type: 'slack', address: 'https://hooks.slack.com/services/T0/B0/X' };
const BODY = {
  name: 'All, each day',
  query: { metrics: ['clicks'], window: { days: 7 } },
  schedule: { every: 'day', hour: 8 },
  recipients: [SLACK],
};
type Page = { reports: ReportRecord[]; next_cursor: string | null };
const create = (body: object = {}) => shop.post<ReportRecord>('/reports', { ...BODY, ...body });
const pathsOf = (body: unknown) =>
  (body as { error: { details?: { path: string }[] } }).error.details?.map(({ path }) => path);

test('a report is created, listed, changed, paused and deleted', async () => {
  const { status, body: made } = await create();
  expect(status).toBe(201);
  expect(made).toMatchObject({
    name: 'All, each day',
    saved_view_id: null,
    query: BODY.query,
    schedule: { every: 'day', hour: 8, time_zone: 'Europe/Berlin' },
    recipients: [{ ...SLACK, state: 'ok', error: null }],
    show_revenue: false,
    is_active: true,
    last_sent_at: null,
    error: null,
  });
  const clock = new Intl.DateTimeFormat('en', {
    timeZone: 'Europe/Berlin',
    hour: 'numeric',
    hourCycle: 'h23',
  });
  expect(clock.format(new Date(made.next_at ?? 0))).toBe('08');
  expect((await shop.get<Page>('/reports')).body).toEqual({ reports: [made], next_cursor: null });
  expect((await shop.get(`/reports/${made.id}`)).body).toEqual(made);
  const changed = await shop.patch<ReportRecord>(`/reports/${made.id}`, {
    schedule: { every: 'month', day: 31, hour: 0, time_zone: 'Asia/Kolkata' },
    show_revenue: true,
  });
  expect(changed.body).toMatchObject({
    name: made.name,
    schedule: { every: 'month', day: 31, hour: 0, time_zone: 'Asia/Kolkata' },
    show_revenue: true,
  });
  const paused = await shop.patch<ReportRecord>(`/reports/${made.id}`, { is_active: false });
  expect(paused.body).toMatchObject({ is_active: false, next_at: null });
  expect((await shop.delete(`/reports/${made.id}`)).body).toEqual({ ok: true });
  expect((await shop.get(`/reports/${made.id}`)).status).toBe(404);
  const log = (await shop.get<{ entries: { action: string }[] }>('/audit-log')).body.entries;
  const actions = log.map(({ action }) => action).filter((action) => action.startsWith('report.'));
  expect(actions).toEqual(['report.delete', 'report.update', 'report.update', 'report.create']);
});

test.each<[object, string]>([
  [{ query: undefined }, 'saved_view_id'],
  [{ query: {}, saved_view_id: '019aabf4-3c00-7000-8000-00000000000c' }, 'query'],
  [{ query: { dimensions: ['colour'] } }, 'query.dimensions.0'],
  [{ schedule: { every: 'day', weekday: 1, hour: 8 } }, 'schedule.weekday'],
  [{ schedule: { every: 'week', day: 1, hour: 8 } }, 'schedule.day'],
  [{ schedule: { every: 'day', hour: 24 } }, 'schedule.hour'],
  [{ schedule: { every: 'day', hour: 8, time_zone: 'Europe/Bonn' } }, 'schedule.time_zone'],
  [{ recipients: [] }, 'recipients'],
  [{ recipients: [SLACK, SLACK] }, 'recipients.1.address'],
  [{ recipients: [{ type: 'email', address: 'grace' }] }, 'recipients.0.address'],
  [{ recipients: [{ type: 'slack', address: 'http://hooks.slack.com/x' }] }, 'recipients.0.address'],
  [{ recipients: [{ type: 'discord', address: 'https://private.example/x' }] }, 'recipients.0.address'],
])('%j is refused, and the field is named', async (body, path) => {
  const refused = await create(body);
  expect([refused.status, pathsOf(refused.body)]).toEqual([400, [path]]);
});

test('an unknown view is 404, a report too many 409', async () => {
  const unknown = { query: undefined, saved_view_id: '019aabf4-3c00-7000-8000-00000000000c' };
  expect((await create(unknown)).status).toBe(404);
  await create();
  await api.stores.pool.query(
    `INSERT INTO reports (id, workspace_id, name, query, schedule, recipients, show_revenue, is_active, created_at, updated_at)
     SELECT gen_random_uuid(), workspace_id, name, query, schedule, recipients, false, false,
       created_at - n * interval '1 second', updated_at FROM reports, generate_series(1, 49) n WHERE workspace_id = $1`,
    [shop.workspace.id],
  );
  const { status, body } = await shop.post('/reports', BODY);
  expect([status, body.error.code]).toEqual([409, 'conflict']);
});

test('a deleted view leaves its query to its reports', async () => {
  const { id } = (await shop.post<{ id: string }>('/saved-views', { name: 'All', query: BODY.query })).body;
  const made = (await create({ query: undefined, saved_view_id: id })).body;
  expect(made).toMatchObject({ saved_view_id: id, query: null });
  expect((await shop.delete(`/saved-views/${id}`)).status).toBe(200);
  expect((await shop.get(`/reports/${made.id}`)).body).toMatchObject({
    saved_view_id: null,
    query: BODY.query,
  });
});

test('a report is requested once a minute', async () => {
  const { id } = (await create()).body;
  expect((await shop.post(`/reports/${id}/send-now`, {})).status).toBe(202);
  expect((await shop.post(`/reports/${id}/send-now`, {})).status).toBe(409);
});

test('an analyst reads no report, for the address of a chat is a secret; a free plan has none', async () => {
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('GET', '/reports')).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/reports')).status).toBe(402);
});

test('an address without a membership confirms by the link of its first mail, and ends it by another', async () => {
  const server = await startMailServer();
  const mailer = startMailer(api.stores.pool, server.url);
  const owner = await signedInAs(api, shop, 'owner');
  const [known, fresh] = [owner.email, 'Grace@Friends.example '];
  const recipients = [known, fresh].map((address) => ({ type: 'email', address }));
  const made = (await owner.call<ReportRecord>('POST', '/reports', { body: { ...BODY, recipients } })).body;
  expect(made.recipients).toEqual([
    { type: 'email', address: known, state: 'ok', error: null },
    { type: 'email', address: 'grace@friends.example', state: 'unconfirmed', error: null },
  ]);
  const mail = await server.untilMailTo('grace@friends.example');
  expect(mail.text).toContain(`${known} added your address to “All, each day” of the workspace Corner Shop`);
  // Once a day, and none to the member.
  await shop.patch(`/reports/${made.id}`, { recipients });
  const { rows } = await api.stores.pool.query('SELECT recipient FROM mails WHERE workspace_id = $1', [
    shop.workspace.id,
  ]);
  expect(rows).toEqual([{ recipient: 'grace@friends.example' }]);
  const token = new URL(linkIn(mail, '/console/confirm-mail')).hash.slice(1);
  const anyone = consoleBrowser(api, '198.51.100.77');
  const confirm = (value: string) => anyone.call('POST', `/mails/confirm?token=${value}`, { body: {} });
  // The token of the other link confirms nothing.
  const end = new URL(linkIn(mail, '/console/unsubscribe')).hash.slice(1);
  expect((await confirm(end)).status).toBe(400);
  const stateNow = async () =>
    (await shop.get<ReportRecord>(`/reports/${made.id}`)).body.recipients[1]?.state;
  expect(await stateNow()).toBe('unconfirmed');
  expect((await confirm(token)).status).toBe(200);
  expect(await stateNow()).toBe('ok');
  const ended = await anyone.call('POST', `/mails/unsubscribe?token=${end}`, { body: {} });
  expect([ended.status, await stateNow()]).toEqual([200, 'unsubscribed']);
  await mailer.stop();
  await server.close();
});

test('without a mail server an email recipient is refused', async () => {
  const bare = await testApi();
  const other = await bare.addWorkspace();
  const refused = await other.post('/reports', {
    ...BODY,
    recipients: [{ type: 'email', address: 'grace@shop.example' }],
  });
  expect([refused.status, pathsOf(refused.body)]).toEqual([400, ['recipients.0.type']]);
  await bare.close();
});
