import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { affiliatesToTell } from '../../sql/portal/notices.ts';
import { buildWeb } from '../../web/build.ts';
import { MAIL_LEASE_MS } from '../../workers/mail/mail.ts';
import { type Affiliate, affiliatesOf } from '../support/affiliates.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { MAIL_ENVIRONMENT, type Mailer, startMailer } from '../support/mail-bench.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { portalBrowser } from '../support/portal.ts';
import { until } from '../support/until.ts';

const SCRIPT = fileURLToPath(new URL('../support/killed-mailer.ts', import.meta.url));
const PAID_AT_ONCE = { hold_days: 0, min_payout: 0, payout_methods: ['paypal'] };

let api: TestApi;
let server: MailServer;
let mailer: Mailer | null = null;
let shop: TestWorkspace;
let people: ReturnType<typeof affiliatesOf>;
beforeAll(async () => {
  await buildWeb();
  api = await testApi(() => ({
    config: readConfig({ ...MAIL_ENVIRONMENT, SHORT_URL: 'https://hop.example' }),
  }));
  server = await startMailServer();
  people = affiliatesOf(api, server);
});
beforeEach(async () => {
  mailer ??= startMailer(api.stores.pool, server.url);
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(async () => {
  await mailer?.stop();
  await server.close();
  await api.close();
});

let orders = 0;
/** A customer of an affiliate buys. Returns the order. */
async function buy({ userId }: Affiliate, amount: number, workspace = shop): Promise<string> {
  orders += 1;
  const [customer, order_id] = [`customer-${orders}`, `bought-${orders}`];
  await workspace.post('/referrals/report-signup', {
    new_user_external_user_id: customer,
    email: `${customer}@else.example`,
    referrer_external_user_id: userId,
  });
  const { status } = await workspace.post('/referrals/report-purchase', {
    external_user_id: customer,
    order_id,
    amount,
    currency: 'usd',
  });
  expect(status).toBe(200);
  return order_id;
}

const refund = (order_id: string, amount: number) =>
  shop.post('/referrals/report-refund', { refund_id: `r-${order_id}-${amount}`, order_id, amount });

/** Pays what is ready. Returns the id of the file. */
async function pay({ partnerId }: Affiliate): Promise<string> {
  await shop.patch(`/enrollments/${partnerId}`, {
    payout_method: { method: 'paypal', email: `${partnerId}@pay.example` },
  });
  const { headers } = await shop.get<string>('/payouts/export');
  const id = String(headers['x-export-id']);
  expect((await shop.post('/payouts', { export_id: id })).status).toBe(200);
  return id;
}

/** The notices to an address, in the order in which the server got them. */
const noticesTo = (email: string) =>
  server.mails.filter(({ envelopeTo, text }) => envelopeTo.includes(email) && text?.includes('affiliate of'));
const subjectsTo = (email: string) =>
  noticesTo(email)
    .map(({ subject }) => subject)
    .sort();

/** Waits until everything that is due was told, and its mails are over. */
const untilTold = () =>
  until(
    'all notices and mails',
    async () => {
      const { rows } = await api.stores.pool.query<{ waiting: string }>(
        `SELECT (SELECT count(*) FROM affiliate_notices WHERE settled_at IS NULL AND due_at <= now())
           + (SELECT count(*) FROM mails WHERE status = 'pending') AS waiting`,
      );
      return Number(rows[0]?.waiting);
    },
    (waiting): waiting is number => waiting === 0,
  );

/** Lets refunds that are gathered for an hour be told now. */
const afterAnHour = () =>
  api.stores.pool.query(
    "UPDATE affiliate_notices SET due_at = now() - interval '1 second' WHERE settled_at IS NULL",
  );

describe('an affiliate is mailed', () => {
  test('the first sale, a payout, one that came back, and what refunds take', async () => {
    const one = await people.affiliate(shop, PAID_AT_ONCE);
    const first = await buy(one, 200);
    await buy(one, 100);
    const file = await pay(one);
    await shop.post(`/payouts/${file}/lines/${one.partnerId}/fail`, { reason: 'see https://evil.example' });
    await untilTold();
    expect(subjectsTo(one.email)).toEqual([
      'A payout of Friends has failed',
      'Friends has paid you $60.00',
      'Your first sale in Friends',
    ]);
    const about = (subject: string) => noticesTo(one.email).find((mail) => mail.subject === subject);
    const [sale, failed] = [about('Your first sale in Friends'), about('A payout of Friends has failed')];
    expect(sale?.text).toContain('the program of Corner Shop. You earn $40.00 for it.');
    expect(sale?.text).toContain(`https://app.example/p/${one.program.code}`);
    expect(failed?.text).toContain('$60.00');
    expect(failed?.text).not.toContain('evil');
    await refund(first, 50);
    await untilTold();
    expect(noticesTo(one.email).at(-1)?.text).toContain('A refund took back $10.00 of your commission');
    // Further refunds within the hour are one mail.
    await refund(first, 20);
    await refund(first, 30);
    await untilTold();
    expect(subjectsTo(one.email)).toHaveLength(4);
    await afterAnHour();
    await untilTold();
    expect(noticesTo(one.email).at(-1)?.text).toContain('2 refunds took back $10.00');
  });

  test('in the language of the page, with its own way to write money', async () => {
    const one = await people.affiliate(shop, {}, { language: 'de' });
    await buy(one, 6_172.5);
    const mail = await server.untilMailTo(one.email, 'Ihr erster Verkauf bei Friends');
    expect(mail.text).toContain('1.234,50\u00a0$');
    const arab = await people.affiliate(shop, {}, { language: 'ar' });
    await buy(arab, 10);
    const other = await server.untilMailTo(arab.email, 'أول عملية بيع لك في Friends');
    expect(other.html).toContain('dir="rtl"');
  });

  test('about the own earnings alone', async () => {
    const program = (await people.affiliate(shop)).program;
    const [mine, theirs] = [await people.affiliate(shop, program), await people.affiliate(shop, program)];
    await buy(mine, 111);
    await buy(theirs, 777);
    await untilTold();
    const [mail] = noticesTo(mine.email);
    expect(subjectsTo(mine.email)).toHaveLength(1);
    expect(mail?.text).toContain('$22.20');
    expect(mail?.envelopeTo).toEqual([mine.email]);
    for (const secret of ['155.40', theirs.email, 'customer-', 'else.example', 'bought-'])
      expect([secret, `${mail?.text}${mail?.html}`.includes(secret)]).toEqual([secret, false]);
  });

  test('nothing once they turned it off, unsubscribed, or deleted the account', async () => {
    const one = await people.affiliate(shop);
    const browser = await people.signedIn(one);
    const set = (notices: string, by = browser, code = one.program.code) =>
      by.post('/portal/notices', { code, notices });
    expect((await set('off')).statusCode).toBe(200);
    expect((await browser.page(`/p/${one.program.code}`)).body).toContain('You get no mails about sales');
    await buy(one, 100);
    await untilTold();
    expect(noticesTo(one.email)).toEqual([]);
    // Also one that was written before.
    const other = await people.affiliate(shop);
    await mailer?.stop();
    await buy(other, 100);
    const theirs = await waiting(other);
    expect(theirs).toBe(true);
    expect((await set('off', portalBrowser(api))).statusCode).toBe(401);
    expect((await set('off', browser, other.program.code)).statusCode).toBe(404);
    expect((await set('maybe')).statusCode).toBe(400);
    await shop.delete(`/enrollments/${other.partnerId}`);
    expect(await waiting(other)).toBe(false);
    mailer = startMailer(api.stores.pool, server.url);
    const third = await people.affiliate(shop, PAID_AT_ONCE);
    await buy(third, 100);
    const mail = await server.untilMailTo(third.email, 'Your first sale in Friends');
    const token = /unsubscribe#(\S+)/.exec(mail.text ?? '')?.[1] ?? '';
    const done = await portalBrowser(api).post(`/mails/unsubscribe?token=${token}`, {});
    expect(done.statusCode).toBe(200);
    await pay(third);
    await untilTold();
    expect(subjectsTo(third.email)).toEqual(['Your first sale in Friends']);
    const back = await people.signedIn(third);
    expect((await set('on', back, third.program.code)).statusCode).toBe(200);
    await buy(third, 50);
    await pay(third);
    await server.untilMailTo(third.email, 'Friends has paid you $10.00');
  });

  test('once, whenever a worker is killed, and also where two sales are the first', async () => {
    const { pool, databaseUrl } = api.stores;
    const one = await people.affiliate(shop);
    // The mail that welcomes the affiliate is not the one that a worker dies with.
    await untilTold();
    await mailer?.stop();
    mailer = null;
    // What concurrent sales write that do not see each other.
    await buy(one, 100);
    await pool.query(
      `INSERT INTO affiliate_notices SELECT gen_random_uuid(), workspace_id, enrollment_id, kind, amount_minor, currency,
         created_at, due_at, NULL FROM affiliate_notices WHERE enrollment_id = $1`,
      [one.partnerId],
    );
    for (const step of ['queued', 'claimed']) {
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', SCRIPT, databaseUrl, server.url, step],
        { stdio: 'inherit' },
      );
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
      expect([step, await waiting(one)]).toEqual([step, step === 'queued']);
    }
    expect(noticesTo(one.email)).toEqual([]);
    const now = () => Date.now() + MAIL_LEASE_MS + 1_000;
    const workers = [startMailer(pool, server.url, { now }), startMailer(pool, server.url, { now })];
    await untilTold();
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(subjectsTo(one.email)).toEqual(['Your first sale in Friends']);
  });
});

const waiting = async ({ partnerId }: Affiliate) =>
  (await affiliatesToTell(api.stores.pool, Date.now(), 1_000)).includes(partnerId);
