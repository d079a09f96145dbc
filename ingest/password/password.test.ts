import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import { keepPasswordVisitor, passwordVisitors } from '../../sql/links/password-visitors.ts';
import {
  type LinkColumns,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { CRAWLER, visit } from '../../test/support/visitors.ts';

let stores: TestStores;
let ingest: TestIngest;
let workspaceId: string;
let password_hash: string;

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  password_hash = await hashPassword('open sesame', LINK_COST);
  // The tests act for several visitors: a trusted proxy names them.
  ingest = await startTestIngest({ ...stores, env: { TRUST_PROXY: '127.0.0.1' } });
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

async function protectedLink(columns: LinkColumns = {}) {
  const made = await makeLink(stores.pool, workspaceId, 'https://example.com/', {
    password_hash,
    ...columns,
  });
  return { ...made, url: `${ingest.url}/${made.slug}` };
}

/** Hidden fields of the form of a page. */
function refererField(page: string): string {
  const [, value = ''] = /<input type="hidden" name="referer" value="([^"]*)">/.exec(page) ?? [];
  return value.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

function submit(url: string, password: string, from = '192.0.2.1') {
  return visit(url, {
    method: 'POST',
    body: new URLSearchParams({ password }),
    headers: { 'x-forwarded-for': from },
  });
}

test('a protected link shows a form, which is not a click', async () => {
  const { url } = await protectedLink();
  const before = (await ingest.events()).length;
  for (const agent of [undefined, CRAWLER]) {
    const page = await visit(url, agent === undefined ? {} : { headers: { 'user-agent': agent } });
    expect([page.status, page.cookies, page.headers.get('cache-control')]).toEqual([200, [], 'no-store']);
    expect(page.body).toMatch(/<form method="post">.*type="password"/);
  }
  const head = await visit(url, { method: 'HEAD' });
  expect([head.status, head.body]).toEqual([200, '']);
  expect((await ingest.events()).length).toBe(before);
});

test('a frame shows a link to a new window instead of the form, and takes no password', async () => {
  const { url } = await protectedLink();
  const before = (await ingest.events()).length;
  const framed = { 'sec-fetch-dest': 'iframe' };
  const body = new URLSearchParams({ password: 'open sesame' });
  for (const init of [{ headers: framed }, { method: 'POST', body, headers: framed }]) {
    const page = await visit(`${url}?a=1`, init);
    expect([page.status, page.location, page.cookies]).toEqual([200, null, []]);
    expect(page.body).toContain('<a class="button" href="" target="_blank" rel="noreferrer">');
    expect(page.body).not.toContain('<form');
    expect(page.headers.get('content-security-policy')).not.toContain('frame-ancestors');
  }
  // A browser that does not report the frame refuses to show the form in it.
  const { body: form, headers } = await visit(url);
  expect(form).toContain('<form method="post">');
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect((await ingest.events()).length).toBe(before);
});

test('two processes count wrong passwords together, and right ones never', async () => {
  const { url, slug } = await protectedLink();
  const other = await startTestIngest({
    ...stores,
    env: { TRUST_PROXY: '127.0.0.1', STREAM_NAME: 'ingest-1' },
  });
  try {
    const urls = [url, `${other.url}/${slug}`];
    const all = (password: string, count: number, from: string) =>
      Promise.all(Array.from({ length: count }, (_, n) => submit(urls[n % 2] ?? '', password, from))).then(
        (answers) => answers.map(({ status }) => status).sort(),
      );
    await expect.poll(async () => (await visit(urls[1] ?? '')).status).toBe(200);
    expect(await all('open sesame', 12, '192.0.2.50')).toEqual(Array(12).fill(302));
    expect(await all('wrong', 8, '192.0.2.51')).toEqual([...Array(5).fill(401), ...Array(3).fill(429)]);
    for (const one of urls) expect((await submit(one, 'open sesame', '192.0.2.51')).status).toBe(429);
    expect((await submit(url, 'open sesame', '192.0.2.52')).status).toBe(302);
  } finally {
    await other.close();
    await other.remove();
  }
});

test('a wrong password gives 401 with the form and is not a click', async () => {
  const { url } = await protectedLink();
  const before = (await ingest.events()).length;
  const page = await submit(url, 'wrong');
  expect(page.status).toBe(401);
  expect(page.body).toContain('type="password"');
  expect((await ingest.events()).length).toBe(before);
});

test('the right password redirects as a click, with the visitor’s query, and opens the link from then on', async () => {
  const { url, slug } = await protectedLink();
  const before = (await ingest.events()).length;
  const answer = await submit(`${url}?a=1`, 'open sesame');
  expect([answer.status, answer.location?.searchParams.get('a')]).toEqual([302, '1']);
  const pass = answer.cookies.find((cookie) => cookie.startsWith('_pass=')) ?? '';
  expect(pass).toMatch(new RegExp(`; Path=/${slug}; Max-Age=7776000; HttpOnly; SameSite=Lax$`));
  expect(answer.cookies.some((cookie) => cookie.startsWith('_vid='))).toBe(true);
  const cookie = pass.split(';')[0] ?? '';
  expect((await visit(url, { headers: { cookie } })).status).toBe(302);
  expect((await ingest.events()).length).toBe(before + 2);
});

/** Submits the form of `page` as a browser does. */
function send(url: string, page: string, password: string, referer: string | null) {
  return visit(url, {
    method: 'POST',
    body: new URLSearchParams({ referer: refererField(page), password }),
    headers: { 'x-forwarded-for': '192.0.2.2', ...(referer !== null && { referer }) },
  });
}

async function lastClick() {
  const click = (await ingest.events()).at(-1);
  return click?.kind === 'click' ? { channel: click.channel, referer: click.referer } : null;
}

test.each(['http://short.test', 'the address itself', null])(
  'a Smart Link with a password has the channel of the first referer, also after a wrong one (form on %s)',
  async (origin) => {
    const { url, slug } = await protectedLink({ channel: null });
    const from = 'https://www.facebook.com/groups/1?a="b"';
    const own =
      origin === null ? null : `${origin === 'http://short.test' ? origin : ingest.url}/${slug}?a=1`;
    const form = await visit(`${url}?a=1`, { headers: { referer: from } });
    const again = await send(`${url}?a=1`, form.body, 'wrong', own);
    expect([form.status, again.status]).toEqual([200, 401]);
    const { status, location } = await send(`${url}?a=1`, again.body, 'open sesame', own);
    const query = Object.fromEntries(location?.searchParams ?? []);
    expect([status, query]).toMatchObject([302, { utm_source: 'facebook', utm_medium: 'social', a: '1' }]);
    expect(await lastClick()).toEqual({ channel: 'facebook', referer: from });
  },
);

test('a visit without a referer has none after the form either', async () => {
  const { url, slug } = await protectedLink({ channel: null });
  const form = await visit(url);
  expect((await send(url, form.body, 'open sesame', `http://short.test/${slug}`)).status).toBe(302);
  expect(await lastClick()).toEqual({ channel: 'other', referer: '' });
});

test('a form on another page, and one without the field, leave the referer of their request', async () => {
  const { url, slug } = await protectedLink({ channel: null });
  const form = await visit(url, { headers: { referer: 'https://www.facebook.com/' } });
  const others = ['https://www.reddit.com/r/a', 'http://short.test.example/', 'http://short.test:81/'];
  for (const referer of others) {
    expect((await send(url, form.body, 'open sesame', referer)).status).toBe(302);
    expect((await lastClick())?.referer).toBe(referer);
  }
  const own = `http://short.test/${slug}`;
  const bare = { method: 'POST', body: new URLSearchParams({ password: 'open sesame' }) };
  expect((await visit(url, { ...bare, headers: { referer: own } })).status).toBe(302);
  expect(await lastClick()).toEqual({ channel: 'other', referer: own });
});

test('a malicious referer is escaped in the form and cleaned when it returns', async () => {
  const { url } = await protectedLink();
  const from = `https://e.example/?q="><script>alert('1')</script>&amp;&#34;`;
  const form = await visit(url, { headers: { referer: from } });
  expect(form.body).not.toContain('<script');
  expect(refererField(form.body)).toBe(from);
  const policy = form.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect((await send(url, form.body, 'open sesame', null)).status).toBe(302);
  expect((await lastClick())?.referer).toBe(from);
  const forged = new URLSearchParams({
    referer: `https://e.example/\r\n\0${'r'.repeat(4_000)}`,
    password: 'wrong',
  });
  const page = await visit(url, { method: 'POST', body: forged });
  expect([page.status, refererField(page.body)]).toEqual([401, `https://e.example/${'r'.repeat(2_030)}`]);
});

test('the longest referer passes through the form', async () => {
  const { url } = await protectedLink();
  const from = `https://e.example/${'%/'.repeat(1_015)}`;
  const form = await visit(url, { headers: { referer: from } });
  expect(from.length).toBe(2_048);
  expect((await send(url, form.body, 'open sesame', null)).status).toBe(302);
  expect((await lastClick())?.referer).toBe(from);
});

test('the cookie opens no other link, and none when it was altered or the password has changed', async () => {
  const { url, id } = await protectedLink();
  const other = await protectedLink();
  const answer = await submit(url, 'open sesame');
  const cookie = answer.cookies.find((set) => set.startsWith('_pass='))?.split(';')[0] ?? '';
  expect((await visit(other.url, { headers: { cookie } })).status).toBe(200);
  const later = cookie.replace(/=\d/, (start) => `=${(Number(start.at(-1)) + 1) % 10}`);
  for (const forged of [later, '_pass=9999999999.x', `_pass=9999999999.${'A'.repeat(43)}`]) {
    expect((await visit(url, { headers: { cookie: forged } })).status).toBe(200);
  }
  await stores.pool.query('UPDATE links SET password_hash = $2 WHERE id = $1', [
    id,
    await hashPassword('new', LINK_COST),
  ]);
  await expect.poll(async () => (await visit(url, { headers: { cookie } })).status).toBe(200);
});

test('behind a proxy that adds a header line, a forged address gains no attempts', async () => {
  const { url } = await protectedLink();
  const statusOf = (lines: string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'user-agent': 'Mozilla/5.0', 'x-forwarded-for': lines };
      request(url, { method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end('password=wrong');
    });
  const statuses: (number | undefined)[] = [];
  for (let n = 0; n < 6; n++) statuses.push(await statusOf([`203.0.113.${n}`, '192.0.2.20']));
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
});

test('after five wrong passwords from one address the next gives 429, the right one too', async () => {
  const { url } = await protectedLink();
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 6; attempt++) statuses.push((await submit(url, 'wrong')).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  const blocked = await submit(url, 'open sesame');
  expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '60']);
  const other = await protectedLink();
  expect((await submit(other.url, 'wrong')).status).toBe(401);
  expect((await submit(url, 'open sesame', '198.51.100.7')).status).toBe(302);
});

test('guesses from many addresses block the link but for those who gave its password, and its owner sees it', async () => {
  const { url, id } = await protectedLink();
  const known = (await submit(url, 'open sesame', '192.0.2.60')).cookies.find((set) =>
    set.startsWith('_pass='),
  );
  const cookie = known?.split(';')[0] ?? '';
  const statuses: number[] = [];
  // Twelve guesses come from a /64 each of one /48, the others from other networks.
  for (let n = 0; n < 31; n++) {
    const from = n < 12 ? `2001:db8:1:${n.toString(16)}::1` : `198.51.100.${n}`;
    statuses.push((await submit(url, 'wrong', from)).status);
  }
  expect(statuses).toEqual([...Array(30).fill(401), 429]);
  // The cookie no longer opens the link, but still identifies a visitor who knows the password.
  const right = { method: 'POST', body: new URLSearchParams({ password: 'open sesame' }) };
  const as = (headers: Record<string, string>) => visit(url, { ...right, headers });
  expect((await as({ 'x-forwarded-for': '203.0.113.1' })).status).toBe(429);
  expect((await as({ 'x-forwarded-for': '203.0.113.1', cookie })).status).toBe(302);
  expect((await as({ 'x-forwarded-for': '192.0.2.60' })).status).toBe(302);
  const entries = async () => {
    const { rows } = await stores.pool.query(
      'SELECT actor_type, action, target_type FROM audit_entries WHERE workspace_id = $1 AND target_id = $2',
      [workspaceId, id],
    );
    return rows;
  };
  // Written behind the response.
  await expect
    .poll(entries)
    .toEqual([{ actor_type: 'service', action: 'link.password_locked', target_type: 'link' }]);
});

test('an address that gave the password is known to other processes and after a restart, until it changes', async () => {
  const { url, slug, id } = await protectedLink();
  const first = await submit(url, 'open sesame', '2001:db8:a::1');
  expect(first.status).toBe(302);
  const cookie = first.cookies.find((set) => set.startsWith('_pass='))?.split(';')[0] ?? '';
  const kept = () => stores.pool.query('SELECT FROM password_visitors WHERE link_id = $1', [id]);
  // Written behind the response.
  await expect.poll(async () => (await kept()).rowCount).toBe(1);
  const env = { TRUST_PROXY: '127.0.0.1', STREAM_NAME: 'ingest-2' };
  let other = await startTestIngest({ ...stores, env });
  try {
    await expect.poll(async () => (await visit(`${other.url}/${slug}`)).status).toBe(200);
    const lock = async () => {
      for (let n = 0; n < 31; n++) await submit(`${other.url}/${slug}`, 'wrong', `2001:db8:b:${n}::1`);
    };
    const statuses = async (password: string) => [
      (await submit(`${other.url}/${slug}`, password, '2001:db8:a::2')).status,
      (await submit(`${other.url}/${slug}`, password, '2001:db8:c::1')).status,
    ];
    await lock();
    expect(await statuses('open sesame')).toEqual([302, 429]);
    // The counts in PostgreSQL still lock the link.
    await other.close();
    other = await startTestIngest({ ...stores, env, dataDir: other.dataDir });
    await expect.poll(async () => (await visit(`${other.url}/${slug}`)).status).toBe(200);
    expect(await statuses('open sesame')).toEqual([302, 429]);
    await stores.pool.query('UPDATE links SET password_hash = $2 WHERE id = $1', [
      id,
      await hashPassword('new', LINK_COST),
    ]);
    const withCookie = () => visit(`${other.url}/${slug}`, { headers: { cookie } });
    await expect.poll(async () => (await withCookie()).status).toBe(200);
    // It gave the old password only.
    expect(await statuses('new')).toEqual([429, 429]);
  } finally {
    await other.close();
    await other.remove();
  }
});

test('of the addresses that gave a password the newest 1,000 are kept', async () => {
  const { id } = await protectedLink();
  const subject = (n: number) => Buffer.from(String(n).padStart(32));
  await stores.pool.query(
    `INSERT INTO password_visitors (subject, link_id, let_in_at)
     SELECT convert_to(lpad(n::text, 32), 'UTF8'), $1, now() - n * interval '1 second' FROM generate_series(1, 1000) AS n`,
    [id],
  );
  await keepPasswordVisitor(stores.pool, id, subject(0));
  const found = await passwordVisitors(stores.pool, [0, 1, 999, 1_000].map(subject));
  expect(found.map((one) => Number(one.toString()))).toEqual(expect.arrayContaining([0, 1, 999]));
  expect(found).toHaveLength(3);
});

test('concurrent attempts are limited', async () => {
  const { url } = await protectedLink();
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit(url, 'wrong', '203.0.113.5')));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(5).fill(401), ...Array(15).fill(429)]);
});

test('correct passwords never count as wrong ones', async () => {
  const { url } = await protectedLink();
  for (let attempt = 0; attempt < 7; attempt++) {
    expect((await submit(url, 'open sesame', '203.0.113.9')).status).toBe(302);
  }
});

test('concurrent visitors behind one address all pass with the correct password', async () => {
  const { url } = await protectedLink();
  for (let attempt = 0; attempt < 4; attempt++) {
    expect((await submit(url, 'wrong', '203.0.113.10')).status).toBe(401);
  }
  const right = await Promise.all(
    Array.from({ length: 10 }, () => submit(url, 'open sesame', '203.0.113.10')),
  );
  expect(right.map(({ status }) => status)).toEqual(Array(10).fill(302));
  expect((await submit(url, 'wrong', '203.0.113.10')).status).toBe(401);
  expect((await submit(url, 'open sesame', '203.0.113.10')).status).toBe(429);
});

test.each([
  [3, 10],
  [8, 8],
])('of %i wrong and %i right passwords at once no more than five are told wrong', async (wrong, right) => {
  const { url } = await protectedLink();
  const from = `203.0.113.${20 + wrong}`;
  const passwords = [...Array(right).fill('open sesame'), ...Array(wrong).fill('wrong')] as string[];
  // Alternating from either end: correct, wrong, correct, …
  const mixed = passwords.map((_, n) => passwords.at(n % 2 === 0 ? n / 2 : -(n + 1) / 2) ?? '');
  const answers = await Promise.all(
    mixed.map(async (password) => ({ password, status: (await submit(url, password, from)).status })),
  );
  const told = (password: string, status: number) =>
    answers.filter((answer) => answer.password === password && answer.status === status).length;
  expect(told('wrong', 401)).toBe(Math.min(wrong, 5));
  expect(told('wrong', 429)).toBe(wrong - Math.min(wrong, 5));
  expect(told('open sesame', 302) + told('open sesame', 429)).toBe(right);
  if (wrong < 5) expect(told('open sesame', 302)).toBe(right);
});

test('an expired link shows that before the form', async () => {
  const { url } = await protectedLink({ expires_at: new Date(0) });
  expect((await visit(url)).status).toBe(410);
  expect((await submit(url, 'open sesame')).status).toBe(410);
});

test('a body that is not a form’s is refused', async () => {
  const { url } = await protectedLink();
  expect((await submit(url, 'x'.repeat(17_000))).status).toBe(413);
  const empty = await visit(url, { method: 'POST', headers: { 'x-forwarded-for': '192.0.2.200' } });
  expect(empty.status).toBe(401);
});

test('a form sent after the link lost its password redirects, as a click', async () => {
  const { url, id } = await protectedLink();
  expect((await visit(url)).status).toBe(200);
  await stores.pool.query('UPDATE links SET password_hash = NULL WHERE id = $1', [id]);
  await expect.poll(async () => (await visit(url)).status).toBe(302);
  const before = (await ingest.events()).length;
  const answer = await submit(`${url}?a=1`, 'open sesame');
  expect([answer.status, answer.location?.searchParams.get('a')]).toEqual([302, '1']);
  expect((await ingest.events()).length).toBe(before + 1);
});
