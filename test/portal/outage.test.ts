import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { readConfig } from '../../core/settings/config.ts';
import { createPool } from '../../sql/database/pool.ts';
import { buildWeb } from '../../web/build.ts';
import { affiliatesOf } from '../support/affiliates.ts';
import { testApi } from '../support/api.ts';
import { MAIL_ENVIRONMENT, startMailer } from '../support/mail-bench.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { portalBrowser } from '../support/portal.ts';

const config = readConfig({ ...MAIL_ENVIRONMENT, SHORT_URL: 'https://hop.example' });
/** Nothing listens on this port. */
const NOWHERE = '127.0.0.1:1';

let server: MailServer;
beforeAll(async () => {
  await buildWeb();
  server = await startMailServer();
});
afterAll(() => server.close());

test('an account without ClickHouse has link and balance, and says that clicks are missing', async () => {
  const clickhouse = createClickHouse({ url: `http://${NOWHERE}`, database: 'hoplog' });
  const api = await testApi(() => ({ config, clickhouse }));
  const mailer = startMailer(api.stores.pool, server.url);
  const shop = await api.addWorkspace({ name: 'Corner Shop' });
  const people = affiliatesOf(api, server);
  const one = await people.affiliate(shop, { hold_days: 0 });
  await shop.post('/referrals/report-signup', {
    new_user_external_user_id: 'n',
    email: 'n@else.example',
    referrer_external_user_id: one.userId,
  });
  await shop.post('/referrals/report-purchase', {
    external_user_id: 'n',
    order_id: 'o-1',
    amount: 200,
    currency: 'usd',
  });
  const browser = await people.signedIn(one);
  const page = await browser.page(`/p/${one.program.code}`);
  expect(page.statusCode).toBe(200);
  for (const shown of [one.link, '$40.00', 'Clicks cannot be shown at the moment', '<dd>–</dd>'])
    expect([shown, page.body.includes(shown)]).toEqual([shown, true]);
  await mailer.stop();
  await api.close();
  await clickhouse.close();
});

test('a page without PostgreSQL is a page in the visitor’s language, with a 503', async () => {
  const pool = createPool(`postgres://nobody@${NOWHERE}/none`);
  const api = await testApi(() => ({ config, pool }));
  const page = await portalBrowser(api).page('/p/friends', { 'accept-language': 'ar' });
  expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '10']);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain('<html lang="ar" dir="rtl">');
  expect(page.body).toContain('لا يمكن عرض هذه الصفحة في الوقت الحالي');
  // Calls of scripts keep the API's errors.
  const call = await portalBrowser(api).post('/portal/sign-in', {
    code: 'friends',
    email: 'grace@friends.example',
    language: 'en',
  });
  expect([call.statusCode, call.json().error.code]).toEqual([503, 'unavailable']);
  await api.close();
  await pool.end();
});
