import { expect } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { consoleBrowser, PASSWORD, signedInAs } from '../../test/support/members.ts';

let addresses = 0;
const elsewhere = () => `198.51.100.${++addresses}`;

async function signIn(api: TestApi, email: string, password: string, address = elsewhere()) {
  return consoleBrowser(api, address).call('POST', '/session', { body: { email, password } });
}

/** Moves all counted attempts into the past, as if this much time had passed. */
const wait = (api: TestApi, time: string) =>
  api.stores.pool.query(
    `UPDATE sign_in_attempts SET locked_until = locked_until - $1::interval,
       tried_at = ARRAY(SELECT tried - $1::interval FROM unnest(tried_at) AS tried)`,
    [time],
  );

/**
 * Moves all counted attempts to now: on a busy machine thirty attempts take longer than the minute in which they count.
 */
const keepCounting = (api: TestApi) =>
  api.stores.pool.query(
    `UPDATE sign_in_attempts SET tried_at = ARRAY(SELECT clock_timestamp() FROM unnest(tried_at)),
       locked_until = CASE WHEN locked_until IS NOT NULL THEN clock_timestamp() + interval '1 minute' END`,
  );

test('five failed attempts lock an account for a minute from their address, also for the right password', async ({
  api,
  shop,
}) => {
  const { email } = await signedInAs(api, shop, 'owner');
  const from = elsewhere();
  for (let wrong = 0; wrong < 5; wrong++) {
    expect((await signIn(api, email, `wrong ${wrong}`, from)).status).toBe(401);
  }
  const locked = await signIn(api, email.toUpperCase(), PASSWORD, from);
  expect([locked.status, locked.body.error.code]).toEqual([429, 'too_many_requests']);
  expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(locked.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await signIn(api, email, PASSWORD)).status).toBe(200);
  await keepCounting(api);
  await wait(api, '20 seconds');
  expect((await signIn(api, email, PASSWORD, from)).status).toBe(429);
  await wait(api, '40 seconds');
  expect((await signIn(api, email, PASSWORD, from)).status).toBe(200);
});

test('thirty failed attempts from many addresses lock an account, but not for a browser that signed in before', async ({
  api,
  shop,
}) => {
  const { email } = await signedInAs(api, shop, 'owner');
  const first = await signIn(api, email, PASSWORD);
  const cookie = [first.headers['set-cookie'] ?? []]
    .flat()
    .map((set) => set.split(';')[0])
    .filter((one) => one?.startsWith('hoplog_browser_'))
    .join('; ');
  expect(cookie).not.toBe('');
  for (let wrong = 0; wrong < 30; wrong++) {
    expect((await signIn(api, email, 'wrong password')).status).toBe(401);
    await keepCounting(api);
  }
  expect((await signIn(api, email, PASSWORD)).status).toBe(429);
  const known = (password: string, headers = { cookie }) =>
    consoleBrowser(api, elsewhere()).call('POST', '/session', { headers, body: { email, password } });
  expect((await known(PASSWORD)).status).toBe(200);
  expect((await known(PASSWORD, { cookie: `${cookie.slice(0, -6)}AAAAAA` })).status).toBe(429);

  for (let wrong = 0; wrong < 5; wrong++) expect((await known('wrong password')).status).toBe(401);
  expect((await known(PASSWORD)).status).toBe(429);
});

test('the cookie of a browser that signed in is of its own account only', async ({ api, shop }) => {
  const [mine, theirs] = [await signedInAs(api, shop, 'owner'), await signedInAs(api, shop, 'owner')];
  const from = elsewhere();
  const cookies = await Promise.all(
    [mine, theirs].map(async ({ email }) =>
      [(await signIn(api, email, PASSWORD)).headers['set-cookie'] ?? []]
        .flat()
        .map((set) => set.split(';')[0] ?? '')
        .find((one) => one.startsWith('hoplog_browser_')),
    ),
  );
  const [name] = cookies[1]?.split('=') ?? [];
  const [, value] = cookies[0]?.split('=') ?? [];
  for (let wrong = 0; wrong < 5; wrong++) await signIn(api, theirs.email, 'wrong password', from);
  const forged = await consoleBrowser(api, from).call('POST', '/session', {
    headers: { cookie: `${name}=${value}` },
    body: { email: theirs.email, password: PASSWORD },
  });
  expect(forged.status).toBe(429);
});

test('attempts while it is locked do not extend the lock', async ({ api, shop }) => {
  const { email } = await signedInAs(api, shop, 'owner');
  const from = elsewhere();
  for (let wrong = 0; wrong < 5; wrong++) await signIn(api, email, 'wrong password', from);
  await keepCounting(api);
  await wait(api, '20 seconds');
  for (let wrong = 0; wrong < 5; wrong++) {
    expect((await signIn(api, email, 'wrong password', from)).status).toBe(429);
  }
  await wait(api, '40 seconds');
  expect((await signIn(api, email, PASSWORD, from)).status).toBe(200);
});

test('four failed attempts lock nothing, and successes between them do not count', async ({ api, shop }) => {
  const { email } = await signedInAs(api, shop, 'owner');
  const address = elsewhere();
  for (let round = 0; round < 4; round++) {
    expect((await signIn(api, email, 'wrong password', address)).status).toBe(401);
    expect((await signIn(api, email, PASSWORD, address)).status).toBe(200);
  }
  expect((await signIn(api, email, 'wrong password', address)).status).toBe(401);
  expect((await signIn(api, email, PASSWORD, address)).status).toBe(429);
});

test('failed attempts more than a minute apart do not add up', async ({ api, shop }) => {
  const { email } = await signedInAs(api, shop, 'owner');
  const from = elsewhere();
  for (let wrong = 0; wrong < 12; wrong++) {
    expect((await signIn(api, email, 'wrong password', from)).status).toBe(401);
    await wait(api, '15 seconds');
  }
  expect((await signIn(api, email, PASSWORD)).status).toBe(200);
});

test('thirty failed attempts from one address lock it for every account; five with unknown emails do not', async ({
  api,
  shop,
}) => {
  const { email } = await signedInAs(api, shop, 'owner');
  const address = elsewhere();
  for (let wrong = 0; wrong < 30; wrong++) {
    expect((await signIn(api, `nobody-${wrong}@example.com`, 'wrong password', address)).status).toBe(401);
    if (wrong === 5) expect((await signIn(api, email, PASSWORD, address)).status).toBe(200);
    await keepCounting(api);
  }
  expect((await signIn(api, email, PASSWORD, address)).status).toBe(429);
  expect((await signIn(api, email, PASSWORD)).status).toBe(200);
});

test('an IPv6 address counts by its network', async ({ api }) => {
  for (let wrong = 0; wrong < 5; wrong++) {
    const answer = await signIn(api, 'six@example.com', 'wrong password', `2001:db8:1:2::${wrong}`);
    expect(answer.status).toBe(401);
  }
  expect((await signIn(api, 'six@example.com', 'wrong password', '2001:db8:1:2:ffff::1')).status).toBe(429);
  expect((await signIn(api, 'six@example.com', 'wrong password', '2001:db8:1:3::1')).status).toBe(401);
});

test('behind proxies that write ports an address is counted without them', async () => {
  const config = readConfig({ SHORT_URL: 'https://hop.example', TRUST_PROXY: '127.0.0.1,10.0.0.0/8' });
  const behind = await testApi(() => ({ config }));
  try {
    const from = async (forwarded: string) => {
      const { status } = await consoleBrowser(behind, '127.0.0.1').call('POST', '/session', {
        headers: { 'x-forwarded-for': forwarded },
        body: { email: 'somebody@example.com', password: 'wrong password' },
      });
      return status;
    };
    for (const [address, spelled] of [
      ['192.0.2.1', '192.0.2.1'],
      ['2001:db8::1', '[2001:db8::1]'],
      ['::1', '[::1]'],
    ]) {
      for (let port = 4711; port < 4716; port++) expect(await from(`${spelled}:${port}`)).toBe(401);
      expect(await from(`${spelled}:4716, 10.0.0.2:443`)).toBe(429);
      expect(await from(`${address}`)).toBe(429);
    }
    // Another address has its own count; all texts that are not addresses share one.
    expect(await from('192.0.2.2:4711')).toBe(401);
    for (let time = 0; time < 5; time++) expect(await from(`unknown-${time}`)).toBe(401);
    expect(await from('_hidden')).toBe(429);
  } finally {
    await behind.close();
  }
});

test('of many concurrent attempts at most five are made', async ({ api, shop }) => {
  const { email } = await signedInAs(api, shop, 'owner');
  const from = elsewhere();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => signIn(api, email, 'wrong password', from)),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(15);
});

test('an account that does not exist is locked as one that does', async ({ api }) => {
  const from = elsewhere();
  for (let wrong = 0; wrong < 5; wrong++) {
    expect((await signIn(api, 'unknown@example.com', 'wrong password', from)).status).toBe(401);
  }
  expect((await signIn(api, 'unknown@example.com', 'wrong password', from)).status).toBe(429);
});

test('guessing the current password of a session that was left open is locked as well', async ({
  api,
  shop,
}) => {
  const browser = await signedInAs(api, shop, 'analyst', { address: elsewhere() });
  const change = (current_password?: string) =>
    browser.call('POST', '/session/password', { body: { current_password, password: 'another password' } });
  const missing = await change();
  expect([missing.status, missing.body.error.details?.[0]?.path]).toEqual([400, 'current_password']);
  for (let wrong = 0; wrong < 5; wrong++) expect((await change('wrong password')).status).toBe(400);
  expect((await change(PASSWORD)).status).toBe(429);
  await wait(api, '1 minute');
  expect((await change(PASSWORD)).status).toBe(200);
});

test('neither emails nor addresses are kept in clear', async ({ api }) => {
  await signIn(api, 'kept@example.com', 'wrong password', '192.0.2.77');
  const { rows } = await api.stores.pool.query(
    `SELECT encode(subject, 'escape') AS kept FROM sign_in_attempts`,
  );
  expect(rows.length).toBeGreaterThan(1);
  expect(JSON.stringify(rows)).not.toMatch(/kept@|192\.0\.2\.77/);
});
