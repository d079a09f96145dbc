import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProgramRecord } from '../../api/referrals/programs/schemas.ts';
import type { TermsList, TermsRecord } from '../../api/referrals/programs/terms-schemas.ts';
import { exportedLines } from '../../cli/commands/ledger.ts';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { buildWeb } from '../../web/build.ts';
import type { Affiliate } from '../support/affiliates.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { applicationsOf, apply, browserAnywhere, openProgram, portalBrowser } from '../support/portal.ts';
import { type PortalBench, portalBench } from '../support/portal-bench.ts';

let bench: PortalBench;
let api: TestApi;
let shop: TestWorkspace;
let people: PortalBench['people'];
beforeAll(async () => {
  await buildWeb();
  bench = await portalBench();
  ({ api, people } = bench);
});
beforeEach(async () => {
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(() => bench.close());

const FIRST = 'Be kind.';
const SECOND = 'Be kind.\nDo not bid on our name <b>.';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const pathsOf = (body: unknown) =>
  (body as { error: { details?: { path: string }[] } }).error.details?.map(({ path }) => path);

const program = (terms: object = { terms_text: FIRST, terms_version: '1' }) =>
  openProgram(shop, { review: 'none', ...terms }, { hold_days: 0, payout_methods: ['paypal'] });
const member = (of: ProgramRecord) =>
  people.affiliate(shop, of, { terms_version: of.portal.terms_version ?? undefined });
const publish = (of: ProgramRecord, body: object) => shop.post<TermsRecord>(`/programs/${of.id}/terms`, body);
const listed = async (of: ProgramRecord, query = '') =>
  (await shop.get<TermsList>(`/programs/${of.id}/terms${query}`)).body;
const verified = () => verifyLedger(api.stores.pool, [shop.workspace.id]);

type Line = Record<string, unknown> & { hash: string };
async function chain(): Promise<Line[]> {
  let text = '';
  for await (const lines of exportedLines(api.stores.pool, shop.workspace.id)) text += lines;
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Earns a commission for an affiliate. */
async function earn({ userId }: Affiliate): Promise<void> {
  const new_user_external_user_id = `friend-of-${userId}`;
  await shop.post('/referrals/report-signup', {
    new_user_external_user_id,
    email: 'n@friends.example',
    referrer_external_user_id: userId,
  });
  const sale = { external_user_id: new_user_external_user_id, order_id: `order-${userId}` };
  await shop.post('/referrals/report-purchase', { ...sale, amount: 200, currency: 'usd' });
}

describe('terms of a program', () => {
  test('are accepted with an application, and again when they have changed; both are in the chain', async () => {
    const own = await program();
    const one = await member(own);
    await earn(one);
    const browser = await people.signedIn(one);
    const page = async () => (await browser.page(`/p/${own.code}`)).body;
    expect(await page()).not.toContain('New terms');
    await browser.post('/portal/payout-method', { code: own.code, method: 'paypal', email: one.email });
    await shop.patch(`/enrollments/${one.partnerId}`, {
      payout_method: { method: 'paypal', email: one.email },
    });

    const published = await publish(own, { text: SECOND });
    expect([published.status, published.body]).toMatchObject([
      201,
      {
        number: 2,
        version: '2',
        url: null,
        text: SECOND,
        sha256: sha256(SECOND),
        is_current: true,
        accepted: 0,
      },
    ]);
    // The earnings stay on the page, and are paid.
    const asked = await page();
    for (const shown of ['New terms', 'Do not bid on our name &#60;b&#62;.', '$40.00', one.link])
      expect(asked).toContain(shown);
    expect((await shop.get<string>('/payouts/export')).text).toContain(one.partnerId);

    const accept = (terms_version: string) =>
      browser.post('/portal/terms', { code: own.code, terms_version });
    expect((await accept('1')).statusCode).toBe(409);
    expect((await accept('2')).statusCode).toBe(200);
    expect((await accept('2')).statusCode).toBe(200);
    const done = await page();
    expect(done).not.toContain('New terms');
    expect(done).toContain('You accepted version \u20682\u2069');
    const [application] = await applicationsOf(shop);
    expect(application).toMatchObject({ terms_version: '2', terms_sha256: sha256(SECOND) });
    expect((await listed(own)).terms).toMatchObject([
      { version: '2', is_current: true, accepted: 1 },
      { version: '1', is_current: false, accepted: 1, text: FIRST },
    ]);

    const lines = await chain();
    let before = '0'.repeat(64);
    for (const { hash, ...line } of lines) {
      const canonical = JSON.stringify(line, Object.keys(line).toSorted());
      expect(canonical).toMatch(/^\{"(account|acceptance)":/);
      before = sha256(`${before}\n${canonical}`);
      expect(hash).toBe(before);
    }
    const of = { application_id: application?.id, program_id: own.id };
    expect(lines.filter(({ acceptance }) => acceptance !== undefined)).toMatchObject([
      { ...of, partner_id: null, terms_number: 1, terms_version: '1', terms_sha256: sha256(FIRST) },
      {
        ...of,
        partner_id: one.partnerId,
        terms_number: 2,
        terms_version: '2',
        terms_sha256: sha256(SECOND),
        accepted_at: application?.terms_accepted_at,
      },
    ]);
    expect(await verified()).toMatchObject({ ok: true, wrong: [] });
  });

  test('that are new to a program are asked of those who came before, and gone terms of nobody', async () => {
    const own = await program({});
    const one = await member(own);
    const browser = await people.signedIn(one);
    const page = async () => (await browser.page(`/p/${own.code}`)).body;
    const none = await browser.post('/portal/terms', { code: own.code, terms_version: '1' });
    expect([none.statusCode, pathsOf(none.json())]).toEqual([400, ['terms_version']]);
    const first = await publish(own, { url: 'https://shop.example/terms?a=1&b=2', version: 'Summer' });
    expect([first.status, first.body]).toMatchObject([201, { number: 1, version: 'Summer', text: null }]);
    expect(await page()).toContain('href="https://shop.example/terms?a=1&#38;b=2"');
    await shop.patch(`/programs/${own.id}`, { portal: { terms_url: null, terms_version: null } });
    expect(await page()).not.toContain('New terms');
    expect((await listed(own)).terms).toMatchObject([{ version: 'Summer', is_current: false }]);
  });

  test('are not accepted by a stranger, for another program, or in the name of another affiliate', async () => {
    const own = await program();
    const other = await openProgram(await api.addWorkspace(), { terms_text: FIRST, terms_version: '1' });
    const browser = await people.signedIn(await member(own));
    const accept = async (from: ReturnType<typeof portalBrowser>, body: object) => {
      const { statusCode, body: text } = await from.post('/portal/terms', body);
      return [statusCode, pathsOf(JSON.parse(text))];
    };
    const right = { code: own.code, terms_version: '1' };
    expect(await accept(portalBrowser(api), right)).toEqual([401, undefined]);
    expect(await accept(browser, { ...right, code: other.code })).toEqual([404, undefined]);
    expect(await accept(browser, { code: own.code })).toEqual([400, ['terms_version']]);
    expect(await accept(browser, { ...right, terms_version: '' })).toEqual([400, ['terms_version']]);
    expect(await accept(browser, { ...right, terms_version: '1\u0000' })).toEqual([400, ['terms_version']]);
    expect(await accept(browser, { ...right, code: 'no-such-code' })).toEqual([404, undefined]);
    expect((await listed(own)).terms[0]?.accepted).toBe(1);
  });

  test('keep their acceptance, without name and address, when the affiliate is erased', async () => {
    const own = await program();
    const one = await member(own);
    const [application] = await applicationsOf(shop);
    expect((await shop.delete(`/enrollments/${one.partnerId}`)).status).toBe(200);
    expect(await applicationsOf(shop)).toEqual([]);
    const lines = await chain();
    expect(lines).toMatchObject([{ application_id: application?.id, terms_version: '1' }]);
    expect(JSON.stringify(lines)).not.toContain(one.email);
    expect(await verified()).toMatchObject({ ok: true });
  });
});

describe('versions of terms', () => {
  test('count up, are listed by pages, and their names are never used again', async () => {
    const own = await program({});
    const versions = [
      { text: 'a', version: '2' },
      { text: 'b' },
      { text: 'c' },
      { text: 'a', version: 'May' },
    ];
    const made = [];
    for (const body of versions) made.push((await publish(own, body)).body.version);
    // The second would be `2`, which the owner has given already.
    expect(made).toEqual(['2', '3', '4', 'May']);
    const first = await listed(own, '?limit=3');
    expect(first.terms.map(({ number }) => number)).toEqual([4, 3, 2]);
    const rest = await listed(own, `?limit=3&cursor=${first.next_cursor}`);
    expect([rest.terms.map(({ number }) => number), rest.next_cursor]).toEqual([[1], null]);
    expect((await publish(own, { text: 'a' })).status).toBe(409);
    expect((await publish(own, { text: 'a', version: 'June' })).body).toMatchObject({ number: 5 });

    const change = (portal: object) => shop.patch<ProgramRecord>(`/programs/${own.id}`, { portal });
    const taken = await change({ terms_text: 'other', terms_version: '3' });
    expect([taken.status, pathsOf(taken.body)]).toEqual([400, ['portal.terms_version']]);
    // Back to earlier terms: no new version.
    expect((await change({ terms_text: 'b', terms_version: '3' })).status).toBe(200);
    const present = (await listed(own)).terms.filter(({ is_current }) => is_current);
    expect(present).toMatchObject([{ number: 2, version: '3' }]);
  });

  test('are published once with one Idempotency-Key, and one after the other at the same time', async () => {
    const own = await program({});
    const key = { 'idempotency-key': 'terms-of-may' };
    const send = () => shop.call('POST', `/programs/${own.id}/terms`, { body: { text: 'a' }, headers: key });
    const [once, again] = [await send(), await send()];
    expect([once.status, again.status, again.body]).toEqual([201, 201, once.body]);
    const many = await Promise.all([...'bcde'].map((text) => publish(own, { text })));
    expect(many.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(many.map(({ body }) => body.number))).toEqual(new Set([2, 3, 4, 5]));
  });

  test.each<[string, object, string]>([
    ['neither text nor address', {}, 'text'],
    ['an empty text', { text: '' }, 'text'],
    ['a NUL', { text: 'a\u0000' }, 'text'],
    ['a long text', { text: 'a'.repeat(50_001) }, 'text'],
    ['both', { text: 'a', url: 'https://shop.example/terms' }, 'text'],
    ['an address without TLS', { url: 'http://shop.example/terms' }, 'url'],
    ['a script', { url: 'javascript:alert(1)' }, 'url'],
    ['a blank version', { text: 'a', version: ' ' }, 'version'],
    ['a long version', { text: 'a', version: 'v'.repeat(41) }, 'version'],
    ['the version of earlier terms', { text: 'a', version: '1' }, 'version'],
    ['a lone surrogate', { text: '\ud800' }, 'text'],
  ])('with %s are refused, and the field is named', async (_, body, path) => {
    const own = await program();
    const answer = await publish(own, body);
    expect([answer.status, pathsOf(answer.body)]).toEqual([400, [path]]);
    for (const query of ['?limit=0', '?cursor=0', '?cursor=x'])
      expect([query, (await shop.get(`/programs/${own.id}/terms${query}`)).status]).toEqual([query, 400]);
    expect((await listed(own, `?cursor=${Number.MAX_SAFE_INTEGER}`)).terms).toHaveLength(1);
  });
});

describe('ledger verify', () => {
  /** Writes like a superuser, with every trigger off. */
  const plant = (sql: string) =>
    api.stores.admin.query(
      `SET session_replication_role = replica; ${sql}; SET session_replication_role = DEFAULT`,
    );
  const OF_SHOP = "workspace_id = '$1'";

  test('and the database itself refuse a change of terms and of who accepted them', async () => {
    await member(await program());
    for (const table of ['program_terms', 'terms_acceptances'])
      for (const statement of [
        `UPDATE ${table} SET id = gen_random_uuid()`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table} CASCADE`,
      ])
        await expect(api.stores.admin.query(statement), statement).rejects.toThrow('append-only');
  });

  test.each<[string, string, string]>([
    [
      'an acceptance at another time',
      `UPDATE terms_acceptances SET accepted_at = accepted_at - interval '1 day' WHERE ${OF_SHOP}`,
      'chain',
    ],
    [
      'an acceptance of other terms',
      `UPDATE terms_acceptances SET terms_id = (SELECT id FROM program_terms WHERE ${OF_SHOP} AND number = 2)
       WHERE ${OF_SHOP}`,
      'chain',
    ],
    [
      'an acceptance by somebody else',
      `UPDATE terms_acceptances SET application_id = gen_random_uuid() WHERE ${OF_SHOP}`,
      'chain',
    ],
    ['a removed acceptance', `DELETE FROM terms_acceptances WHERE ${OF_SHOP}`, 'chain'],
    [
      'an acceptance that was written past the queue',
      `INSERT INTO terms_acceptances (id, workspace_id, terms_id, application_id, accepted_at)
       SELECT gen_random_uuid(), workspace_id, id, gen_random_uuid(), now() FROM program_terms WHERE ${OF_SHOP}`,
      'chain',
    ],
    ['terms with another text', `UPDATE program_terms SET text = text || '!' WHERE ${OF_SHOP}`, 'terms'],
    [
      'terms with another text and its hash',
      `UPDATE program_terms SET text = 'x', sha256 = sha256('x') WHERE ${OF_SHOP} AND number = 1`,
      'chain',
    ],
    [
      'terms with another version',
      `UPDATE program_terms SET version = 'x' WHERE ${OF_SHOP} AND number = 1`,
      'chain',
    ],
  ])('finds %s', async (_, sql, what) => {
    const own = await program();
    await member(own);
    // A second applicant, so that a line follows.
    await apply(browserAnywhere(api), own, { email: 'second@friends.example', terms_version: '1' });
    await publish(own, { text: SECOND });
    await chain();
    expect(await verified()).toMatchObject({ ok: true });
    await plant(sql.replaceAll('$1', shop.workspace.id));
    const { ok, wrong } = await verified();
    expect(ok).toBe(false);
    expect(new Set(wrong.map((one) => one.what))).toEqual(new Set([what]));
    expect(wrong.every(({ id, problem }) => id !== null && problem !== '')).toBe(true);
  });
});
