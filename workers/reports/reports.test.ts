import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { Schedule } from '../../core/reports/schedule.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { createHostResolver } from '../../core/webhooks/resolve-host.ts';
import { advanceStreams, registerStream } from '../../sql/event-log/streams.ts';
import { confirmAddress } from '../../sql/mail/confirmations.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { unsubscribe } from '../../sql/mail/unsubscribes.ts';
import {
  insertReport,
  keepQueryOfView,
  type Recipient,
  type ReportSettings,
  reportById,
  requestReport,
  updateReport,
} from '../../sql/reports/reports.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { makeLink } from '../../test/support/ingest.ts';
import { startMailer } from '../../test/support/mail-bench.ts';
import { type MailServer, startMailServer } from '../../test/support/mail-server.ts';
import { untilRolledBack } from '../../test/support/rolled-back.ts';
import { type GivenClick, storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';
import { startChat } from '../chat/post-messages.ts';
import { createIdlePause } from '../idle-pause.ts';
import { createWaiting } from '../jobs/waiting.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { createSender } from '../webhooks/send.ts';
import { REPORT_LEASE_MS, type ReportDependencies, sendReports } from './send-reports.ts';

const SCRIPT = fileURLToPath(new URL('../test-support/killed-reporter.ts', import.meta.url));
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (iso: string) => Date.parse(iso);
const BERLIN: Schedule = { every: 'day', hour: 8, time_zone: 'Europe/Berlin' };

let stores: TestStores;
let server: MailServer;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  server = await startMailServer();
});
afterEach(async () => {
  await server.close();
  await stores.pool.query('DELETE FROM reports; DELETE FROM mails; DELETE FROM chat_messages');
});

const run = (now: number, changes: Partial<ReportDependencies> = {}) =>
  sendReports(
    {
      ...stores,
      log: silentLogger(),
      outbox: createOutbox(true),
      appUrl: 'https://app.example',
      ...changes,
    },
    now,
  );

/** Makes a workspace with confirmed addresses, and a report. */
async function reportOf(
  changes: Partial<ReportSettings>,
  nextAt: number | null,
  emails = ['grace@shop.example'],
) {
  const { id: workspaceId } = await createWorkspace(stores.pool, { name: 'Corner Shop', plan: 'pro' });
  for (const email of emails) await confirmAddress(stores.pool, { workspaceId, email });
  const recipients: Recipient[] = emails.map((address) => ({ type: 'email', address }));
  const settings: ReportSettings = {
    name: 'Germany',
    saved_view_id: null,
    query: { metrics: ['clicks', 'visitors'], dimensions: ['time:day'] },
    schedule: BERLIN,
    recipients,
    show_revenue: false,
    is_active: nextAt !== null,
    ...changes,
  };
  const report = await insertReport(stores.pool, workspaceId, settings, nextAt);
  return { workspaceId, id: report.id, settings };
}

/** Stores clicks at an instant, one microsecond apart. */
const clicksAt = (workspaceId: string, iso: string, count: number, given: Partial<GivenClick> = {}) =>
  storeClicks(
    stores,
    Array.from({ length: count }, (_, n) => ({
      workspaceId,
      tsNanos: BigInt(at(iso)) * 1_000_000n + BigInt(n) * 1_000n,
      channel: 'newsletter',
      country: 'DE',
      ...given,
    })),
  );

async function queued(): Promise<string[]> {
  const { rows } = await stores.pool.query<{ recipient: string }>(
    "SELECT recipient FROM mails WHERE kind = 'report' ORDER BY id",
  );
  return rows.map(({ recipient }) => recipient);
}

const stateOf = async ({ workspaceId, id }: { workspaceId: string; id: string }) => {
  const report = await reportById(stores.pool, workspaceId, id);
  if (!report) throw new Error('the report is gone');
  return report;
};

test('a report has the figures of the local day, the day before, top rows, and a chart', async () => {
  const { pool } = stores;
  const query = {
    metrics: ['clicks', 'visitors', 'revenue'],
    filters: [{ dimension: 'country', operator: 'is', values: ['DE'] }],
    address: 'f=country%3Ais%3ADE&days=30',
  };
  const { workspaceId, id } = await reportOf({ query }, at('2026-03-30T06:00:00Z'));
  const link = await makeLink(pool, workspaceId, 'https://shop.example/', { slug: 'spring' });
  // On March 29 the day in Berlin has 23 hours, and ends at 22:00 in UTC.
  await clicksAt(workspaceId, '2026-03-28T23:00:00Z', 3, { linkId: link.id });
  await clicksAt(workspaceId, '2026-03-29T21:59:59Z', 2, { channel: 'instagram' });
  await clicksAt(workspaceId, '2026-03-29T22:00:00Z', 7);
  await clicksAt(workspaceId, '2026-03-28T12:00:00Z', 4, { linkId: link.id });
  await clicksAt(workspaceId, '2026-03-29T12:00:00Z', 9, { country: 'FR' });
  await run(at('2026-03-30T06:00:00Z'));
  const mailer = startMailer(pool, server.url);
  const mail = await server.untilMailTo('grace@shop.example');
  await mailer.stop();
  expect(mail.subject).toBe('Germany: Sunday, March 29, 2026');
  expect(mail.text).toContain('Clicks: 5 (+25%, from 4)');
  expect(mail.text).not.toContain('Revenue');
  expect(mail.text).toContain('Channel\nNewsletter: 3, -25%\nInstagram: 2, new');
  expect(mail.text).toMatch(/Link\nspring.*: 3, -25%/);
  expect(mail.text).toContain('Country\nGermany: 5, +25%');
  expect(mail.text).toContain(
    'https://app.example/console/?f=country%3Ais%3ADE&from=2026-03-29&to=2026-03-29',
  );
  const [chart] = mail.attachments;
  expect([chart?.cid, chart?.contentType]).toEqual(['picture@hoplog', 'image/png']);
  // The parser puts the picture in the place of its cid.
  expect(mail.html).toContain('<img src="data:image/png;base64,');
  expect(mail.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/im);
  expect(await stateOf({ workspaceId, id })).toMatchObject({
    next_at: '2026-03-31T06:00:00.000000Z',
    last_sent_at: '2026-03-30T06:00:00.000000Z',
    error: null,
  });
});

test('a month without data says so', async () => {
  await reportOf(
    { schedule: { every: 'month', day: 1, hour: 8, time_zone: 'UTC' } },
    at('2026-11-01T08:00:00Z'),
  );
  await run(at('2026-11-01T08:00:05Z'));
  const mailer = startMailer(stores.pool, server.url);
  const mail = await server.untilMailTo('grace@shop.example');
  await mailer.stop();
  expect(mail.subject).toBe('Germany: October 2026');
  expect(mail.text).toContain('Corner Shop has no data for this view in the period: October 2026.');
  expect(mail.attachments).toEqual([]);
});

test('workers that are killed, and two at once, send each period once', async () => {
  const due = at('2026-11-20T07:00:00Z');
  const emails = ['ada@shop.example', 'grace@shop.example'];
  const { workspaceId, id } = await reportOf({}, due, emails);
  await clicksAt(workspaceId, '2026-11-19T12:00:00Z', 2);
  let now = due;
  let expected: string[] = [];
  for (const step of ['claimed', 'composed', 'queued', 'committed']) {
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        SCRIPT,
        stores.databaseUrl,
        inject('clickhouseUrl'),
        stores.clickhouseDatabase,
        String(now),
        step,
      ],
      { stdio: 'inherit' },
    );
    expect(await once(child, 'exit'), step).toEqual([null, 'SIGKILL']);
    await untilRolledBack(stores.pool);
    expect(await queued(), step).toEqual(step === 'committed' ? [...expected, ...emails] : expected);
    // The claim of the dead one holds.
    await run(now + 1_000);
    expect(await queued(), step).toHaveLength(expected.length + (step === 'committed' ? 2 : 0));
    await Promise.all([run(now + REPORT_LEASE_MS + 1_000), run(now + REPORT_LEASE_MS + 1_000)]);
    expected = [...expected, ...emails];
    expect(await queued(), step).toEqual(expected);
    now += DAY;
  }
  expect((await stateOf({ workspaceId, id })).next_at).toBe('2026-11-24T07:00:00.000000Z');
});

test('two workers that make a report at once send it once', async () => {
  const due = at('2026-11-20T07:00:00Z');
  await reportOf({}, due);
  // The claim of the first one ends while it makes the report.
  let second: Promise<boolean> | null = null;
  await run(due, {
    onStep(step) {
      if (step === 'composed') second ??= run(due + REPORT_LEASE_MS + 1_000);
    },
  });
  await second;
  expect(await queued()).toHaveLength(1);
});

test('of missed periods only the last is sent, and a changed schedule sends none again', async () => {
  const { pool } = stores;
  const { workspaceId, id, settings } = await reportOf({}, at('2026-11-10T07:00:00Z'));
  await run(at('2026-11-20T07:30:00Z'));
  expect(await queued()).toHaveLength(1);
  // Two hours later on the same day: the same period.
  const later = { ...settings, schedule: { ...BERLIN, hour: 10 } };
  await updateReport(pool, workspaceId, id, later, at('2026-11-20T09:00:00Z'));
  await run(at('2026-11-20T09:00:00Z'));
  expect(await queued()).toHaveLength(1);
  expect((await stateOf({ workspaceId, id })).next_at).toBe('2026-11-21T09:00:00.000000Z');
  await run(at('2026-11-21T09:00:00Z'));
  expect(await queued()).toHaveLength(2);
});

test('a request sends the last whole period besides the schedule, once', async () => {
  const { pool } = stores;
  const paused = await reportOf({}, null);
  expect(await requestReport(pool, paused.workspaceId, paused.id)).toBe(true);
  expect(await requestReport(pool, paused.workspaceId, paused.id)).toBe(false);
  await run(Date.now() + 1_000);
  await run(Date.now() + REPORT_LEASE_MS + 2_000);
  expect(await queued()).toHaveLength(1);
  expect(await stateOf(paused)).toMatchObject({ next_at: null, is_active: false });
});

test('only members and confirmed addresses get a report, and none that ended it', async () => {
  const { pool } = stores;
  const { workspaceId } = await reportOf(
    {
      recipients: ['new@shop.example', 'tired@shop.example', 'grace@shop.example'].map((address) => ({
        type: 'email',
        address,
      })),
    },
    at('2026-11-20T07:00:00Z'),
    ['tired@shop.example', 'grace@shop.example'],
  );
  await unsubscribe(pool, { workspaceId, email: 'tired@shop.example' });
  await run(at('2026-11-20T07:00:00Z'));
  expect(await queued()).toEqual(['grace@shop.example']);
});

test('a report waits an hour at most for the last clicks of its period', async () => {
  const { pool } = stores;
  const due = at('2026-11-20T07:00:00Z');
  const stream = await registerStream(pool, 'late');
  await advanceStreams(pool, [
    {
      streamId: stream.streamId,
      ordinal: stream.ordinal,
      highWater: 1n,
      visibleBefore: at('2026-11-19T22:00:00Z') * 1_000,
    },
  ]);
  await reportOf({}, due);
  await run(due);
  expect(await queued()).toEqual([]);
  await run(due + 31_000);
  expect(await queued()).toEqual([]);
  await run(due + HOUR + 31_000);
  expect(await queued()).toHaveLength(1);
  await pool.query("UPDATE ingest_streams SET state = 'retired'");
});

test('a report that cannot be made says why, and is tried again', async () => {
  const due = at('2026-11-20T07:00:00Z');
  const filters = [{ dimension: 'browser', operator: 'is', values: ['No such browser'] }];
  const report = await reportOf({ query: { filters } }, due);
  await run(due);
  const failed = await stateOf(report);
  expect(failed.error).toContain('must be one of');
  expect(failed.next_at).toBe('2026-11-20T07:00:00.000000Z');
  await stores.pool.query("UPDATE reports SET query = '{}' WHERE id = $1", [report.id]);
  await run(due + 30_000);
  expect(await queued()).toEqual([]);
  await run(due + 61_000);
  expect(await queued()).toHaveLength(1);
  expect((await stateOf(report)).error).toBe(null);
});

test('a report of a saved view follows it, and keeps its query when the view is deleted', async () => {
  const { pool } = stores;
  const { workspaceId, id } = await reportOf({}, at('2026-11-20T07:00:00Z'));
  const view = '019aabf4-3c00-7000-8000-0000000000aa';
  await pool.query(
    `INSERT INTO saved_views (id, workspace_id, name, query, created_at) VALUES ($1, $2, 'View', $3, now())`,
    [view, workspaceId, { metrics: ['leads'], address: 'metric=leads' }],
  );
  await pool.query('UPDATE reports SET saved_view_id = $2, query = NULL WHERE id = $1', [id, view]);
  await keepQueryOfView(pool, workspaceId, view);
  await pool.query('DELETE FROM saved_views WHERE id = $1', [view]);
  expect(await stateOf({ workspaceId, id })).toMatchObject({
    saved_view_id: null,
    query: { metrics: ['leads'], address: 'metric=leads' },
  });
});

test('a report reaches Slack and Discord, whose refusals are shown', async () => {
  const { pool } = stores;
  const got: { path: string; body: Record<string, unknown> }[] = [];
  let status = 200;
  const chat = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      got.push({ path: request.url ?? '', body: JSON.parse(text) });
      response.writeHead(status, { 'retry-after': '1' }).end(status === 404 ? 'no_service' : 'ok');
    });
  }).listen(0, '127.0.0.1');
  await once(chat, 'listening');
  const origin = `http://127.0.0.1:${(chat.address() as AddressInfo).port}`;
  const due = at('2026-11-20T07:00:00Z');
  const { workspaceId } = await reportOf(
    {
      name: 'All & <!channel> @everyone *all*',
      recipients: [
        { type: 'slack', address: `${origin}/slack` },
        { type: 'discord', address: `${origin}/discord` },
      ],
    },
    due,
  );
  await clicksAt(workspaceId, '2026-11-19T12:00:00Z', 2);
  let ahead = 0;
  const metrics = createWorkerMetrics(new Registry());
  const pause = createIdlePause(50);
  const now = () => Date.now() + ahead;
  const poster = startChat({
    pool,
    log: silentLogger(),
    metrics,
    pause,
    waits: createWaiting({ pool, pause, now }),
    sender: createSender({ allowPrivate: true, resolve: createHostResolver() }),
    now,
  });
  const rowsIn = (wanted: string) =>
    until(
      `two messages ${wanted}`,
      async () => (await pool.query('SELECT status, error, attempts, body FROM chat_messages')).rows,
      (rows) => rows.length === 2 && rows.every((row) => row.status === wanted && row.attempts > 0),
    );
  try {
    status = 503;
    await run(due);
    for (const { error, attempts } of await rowsIn('pending')) {
      expect([error, attempts]).toEqual(['responded with 503: ok', 1]);
    }
    status = 200;
    ahead = 15_000;
    await rowsIn('delivered');
    const slack = got.findLast(({ path }) => path === '/slack')?.body.text as string;
    const discord = got.findLast(({ path }) => path === '/discord')?.body;
    expect(slack).toContain('*All &amp; &lt;!channel&gt; @everyone *all**');
    expect(slack).toContain('Clicks: *2*');
    expect(slack).toContain('<https://app.example/console/?from=2026-11-19&to=2026-11-19|Open the view>');
    expect(discord).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(discord?.content).toContain('\\*all\\*');
    await pool.query('DELETE FROM chat_messages');
    status = 404;
    await run(due + DAY);
    for (const { error, body } of await rowsIn('failed')) {
      expect([error, body]).toEqual(['responded with 404: no_service', null]);
    }
  } finally {
    await poster.stop(0);
    chat.close();
  }
});
