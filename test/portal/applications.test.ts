import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProgramRecord } from '../../api/referrals/programs/schemas.ts';
import { allQueuedEvents } from '../referrals/support.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import type { MailServer } from '../support/mail-server.ts';
import { consoleBrowser, signedInAs } from '../support/members.ts';
import { applicationsOf, apply, browserAnywhere, openProgram, solved } from '../support/portal.ts';
import { type PortalBench, portalBench } from '../support/portal-bench.ts';

let bench: PortalBench;
let api: TestApi;
let server: MailServer;
let shop: TestWorkspace;
beforeAll(async () => {
  bench = await portalBench();
  ({ api, server } = bench);
});
beforeEach(async () => {
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(() => bench.close());

let people = 0;
const anyone = () => {
  people += 1;
  return `person-${people}@friends.example`;
};
const pathsOf = ({ body }: { body: unknown }) =>
  (body as { error: { details?: { path: string }[] } }).error.details?.map(({ path }) => path);
const mailsTo = async (email: string) =>
  (await api.stores.pool.query<{ status: string }>('SELECT status FROM mails WHERE recipient = $1', [email]))
    .rows;

describe('an application', () => {
  const FIELDS = [
    { name: 'site', label: 'Your site', required: true },
    { name: 'note', label: 'Anything else', required: false },
  ];
  const TERMS = 'You must not bid on our name.';

  test('waits, is approved, and makes a referrer, who gets mails in the language of the page', async () => {
    const program = await openProgram(shop, { fields: FIELDS, terms_text: TERMS, terms_version: '2' });
    const email = anyone();
    const sent = await apply(browserAnywhere(api), program, {
      email: ` ${email.toUpperCase()} `,
      name: 'Grace',
      language: 'de',
      answers: { site: 'https://grace.example', other: 'dropped' },
      terms_version: '2',
    });
    expect([sent.status, sent.body]).toEqual([202, { ok: true }]);
    const [waiting] = await applicationsOf(shop, '?status=pending');
    expect(waiting).toMatchObject({
      program_id: program.id,
      email,
      name: 'Grace',
      answers: { site: 'https://grace.example' },
      language: 'de',
      status: 'pending',
      terms_version: '2',
      terms_sha256: createHash('sha256').update(TERMS).digest('hex'),
      partner_id: null,
      referral_link: null,
      decided_at: null,
    });
    expect(Date.parse(waiting?.terms_accepted_at ?? '')).toBeLessThanOrEqual(Date.now());
    const received = await server.untilMailTo(email);
    expect(received.subject).toBe('Ihre Bewerbung bei Friends');

    const owner = await signedInAs(api, shop, 'operator');
    const approved = await owner.call<typeof waiting>('POST', `/applications/${waiting?.id}/approve`, {
      body: {},
    });
    expect(approved.body).toMatchObject({
      status: 'approved',
      external_user_id: `portal:${waiting?.id}`,
      referral_link: expect.stringMatching(/^https:\/\/hop\.example\//),
    });
    const mail = await server.untilMailTo(email, 'Willkommen bei Friends');
    expect(mail.text).toContain(approved.body?.referral_link);
    const enrolled = await shop.get<object>(`/enrollments/${approved.body?.partner_id}`);
    expect(enrolled.body).toMatchObject({ email, name: 'Grace', reward_mode: 'affiliate' });
    const events = (await allQueuedEvents(api, shop)).map(({ type }) => type);
    expect(events.filter((type) => type.startsWith('application'))).toEqual([
      'application.created',
      'application.approved',
    ]);
    for (const decision of ['approve', 'reject']) {
      const again = await shop.post(`/applications/${waiting?.id}/${decision}`, {});
      expect([decision, again.status]).toEqual([decision, 409]);
    }
  });

  test('is approved at once where the program says so', async () => {
    const program = await openProgram(shop, { review: 'none' });
    const email = anyone();
    await apply(browserAnywhere(api), program, { email });
    const [approved] = await applicationsOf(shop);
    expect(approved).toMatchObject({ email, status: 'approved' });
    expect((await server.untilMailTo(email)).text).toContain(approved?.referral_link);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test('that is rejected can be approved later, for a user who is a referrer already', async () => {
    const program = await openProgram(shop);
    const { body: known } = await shop.post<{ partner_id: string; referral_link: string }>(
      '/referrals/enroll',
      { external_user_id: 'user_7', email: 'user-7@shop.example', tier: 'free' },
    );
    const email = anyone();
    await apply(browserAnywhere(api), program, { email });
    const [{ id } = { id: '' }] = await applicationsOf(shop);
    const rejected = await shop.post<{ status: string }>(`/applications/${id}/reject`);
    expect(rejected.body.status).toBe('rejected');
    await server.untilMailTo(email, 'Your application to Friends');
    const approved = await shop.post(`/applications/${id}/approve`, { external_user_id: 'user_7' });
    const { partner_id, referral_link } = known;
    expect(approved.body).toMatchObject({ partner_id, referral_link });
    // Nobody else gets into the account of that referrer.
    await apply(browserAnywhere(api), program, { email: anyone() });
    const [other] = await applicationsOf(shop, '?status=pending');
    const second = await shop.post(`/applications/${other?.id}/approve`, { external_user_id: 'user_7' });
    expect(second.status).toBe(409);
    expect((await applicationsOf(shop, '?status=pending')).map(({ id }) => id)).toEqual([other?.id]);
  });

  test('goes with its referrer, and with its person', async () => {
    const program = await openProgram(shop, { review: 'none' });
    await apply(browserAnywhere(api), program, { email: anyone() });
    const [{ partner_id } = { partner_id: null }] = await applicationsOf(shop);
    await shop.delete(`/enrollments/${partner_id}`);
    expect(await applicationsOf(shop)).toEqual([]);
  });

  test.each<[object, number, string[] | undefined]>([
    [{ answers: {} }, 400, ['answers.site']],
    [{ answers: { site: ' ' } }, 400, ['answers.site']],
    [{ email: 'grace' }, 400, ['email']],
    [{ name: '\u200b' }, 400, ['name']],
    [{ language: 'tlh' }, 400, ['language']],
    [{ terms_version: undefined }, 400, ['terms_version']],
    [{ terms_version: '1' }, 409, undefined],
    [{ nonce: 'zzzzz' }, 400, ['nonce']],
    [{ challenge: 'tq4f3k.c2hvcnQgdGV4dA.5f3c9a0b1c2d3e4f' }, 400, ['challenge']],
    [{ code: 'no-such-program' }, 404, undefined],
  ])('with %j is refused, and the field is named', async (changes, status, paths) => {
    const program = await openProgram(shop, { fields: FIELDS, terms_text: TERMS, terms_version: '2' });
    const answer = await apply(browserAnywhere(api), program, {
      answers: { site: 'https://grace.example' },
      terms_version: '2',
      ...changes,
    });
    expect([answer.status, pathsOf(answer)]).toEqual([status, paths]);
    expect(await applicationsOf(shop)).toEqual([]);
  });

  test('needs an open portal of an active program in a paid workspace', async () => {
    const program = await openProgram(shop);
    const to = async (change: object) => {
      await shop.patch(`/programs/${program.id}`, change);
      return (await apply(browserAnywhere(api), program)).status;
    };
    expect(await to({ portal: { is_open: false } })).toBe(404);
    expect(await to({ portal: { is_open: true }, status: 'paused' })).toBe(404);
    await api.stores.pool.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [
      shop.workspace.id,
    ]);
    expect((await apply(browserAnywhere(api), program)).status).toBe(404);
  });
});

describe('the settings of a portal', () => {
  test('are changed one by one, and new terms need another version', async () => {
    const made = await openProgram(shop, { terms_url: 'https://shop.example/terms', terms_version: '1' });
    const change = (portal: object) => shop.patch<ProgramRecord>(`/programs/${made.id}`, { portal });
    const opened = await change({ welcome_text: 'Hello\nfriends' });
    expect(opened.body.portal).toEqual({ ...made.portal, welcome_text: 'Hello\nfriends' });
    expect(pathsOf(await change({ terms_url: 'https://shop.example/other' }))).toEqual([
      'portal.terms_version',
    ]);
    const moved = await change({ terms_url: null, terms_text: 'Be kind.', terms_version: '2' });
    expect(moved.body.portal).toMatchObject({ terms_url: null, terms_text: 'Be kind.', terms_version: '2' });
  });

  test.each<[object, string]>([
    [{ review: 'some' }, 'portal.review'],
    [{ terms_url: 'http://shop.example/terms', terms_version: '1' }, 'portal.terms_url'],
    [{ terms_url: 'javascript:alert(1)', terms_version: '1' }, 'portal.terms_url'],
    [{ terms_text: 'x' }, 'portal.terms_version'],
    [{ terms_version: '1' }, 'portal.terms_version'],
    [{ terms_text: 'x', terms_url: 'https://shop.example/terms', terms_version: '1' }, 'portal.terms_text'],
    [{ fields: [{ name: 'email', label: 'Email', required: true }] }, 'portal.fields.0.name'],
    [{ fields: [{ name: 'Site', label: 'Site', required: true }] }, 'portal.fields.0.name'],
    [{ fields: ['a', 'a'].map((name) => ({ name, label: 'Site', required: true })) }, 'portal.fields.1.name'],
  ])('%j is refused, and the field is named', async (portal, path) => {
    const refused = await shop.post('/programs', {
      name: 'Friends',
      destination_url: 'https://shop.example/welcome',
      portal,
    });
    expect([refused.status, pathsOf(refused)]).toEqual([400, [path]]);
  });
});

describe('an attacker', () => {
  test('does not learn whether an address is known: the same answer, at a step of time', async () => {
    const program = await openProgram(shop, { review: 'none' });
    const known = anyone();
    await apply(browserAnywhere(api), program, { email: known });
    const timed = async (email: string) => {
      const browser = browserAnywhere(api);
      const work = await solved(browser);
      const start = performance.now();
      const { status, body } = await apply(browser, program, { email, ...work });
      // The work itself takes much less, so both leave at a multiple of the step.
      return { status, body, isHeld: performance.now() - start >= 499 };
    };
    const unknown = await timed(anyone());
    expect(await timed(known)).toEqual(unknown);
    expect(unknown).toEqual({ status: 202, body: { ok: true }, isHeld: true });
    // Nothing of the known one changed, and nobody was mailed again.
    expect(await mailsTo(known)).toHaveLength(1);
    expect((await applicationsOf(shop)).filter(({ email }) => email === known)).toHaveLength(1);
  });

  test('sends a hundred applications, and ten of one network address count', async () => {
    const program = await openProgram(shop);
    const attacker = browserAnywhere(api);
    // A proof takes some work, so some are sent again.
    const works = await Promise.all(Array.from({ length: 15 }, () => solved(attacker)));
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        attacker.call('POST', '/portal/applications', {
          body: { code: program.code, email: anyone(), name: 'Grace', language: 'en', ...works[n % 15] },
        }),
      ),
    );
    const counts = Map.groupBy(answers, ({ status }) => status);
    expect(counts.get(202)).toHaveLength(10);
    expect(counts.get(429)?.length).toBeGreaterThan(75);
    expect(counts.get(429)?.[0]?.headers['retry-after']).toBe('3600');
    expect(await applicationsOf(shop)).toHaveLength(10);
  });

  test('uses one proof of work once, also from other addresses', async () => {
    const program = await openProgram(shop);
    const work = await solved(browserAnywhere(api));
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => apply(browserAnywhere(api), program, { email: anyone(), ...work })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 400, 400, 400, 400]);
    expect(await applicationsOf(shop)).toHaveLength(1);
  });

  test('fills in the hidden field, and nothing happens', async () => {
    const program = await openProgram(shop);
    const email = anyone();
    const sent = await apply(browserAnywhere(api), program, { email, website: 'https://spam.example' });
    expect(sent.status).toBe(202);
    expect(await applicationsOf(shop)).toEqual([]);
    expect(await mailsTo(email)).toEqual([]);
  });

  test('puts no word into a mail to somebody else, and no HTML into one of the program', async () => {
    const program = await openProgram(
      shop,
      { review: 'none', fields: [{ name: 'site', label: 'Site', required: true }] },
      { name: '<b>Win</b> at https://evil.example' },
    );
    const victim = anyone();
    const evil = '<a href="https://spam.example">click</a>\u2028https://spam.example';
    await apply(browserAnywhere(api), program, {
      email: victim,
      name: 'Buy at spam.example',
      answers: { site: evil },
    });
    const mail = await server.untilMailTo(victim);
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toContain('spam.example');
    expect(mail.html).not.toContain('<b>Win');
    expect(mail.html).not.toMatch(/href="[^"]*evil/);
    expect(mail.text).not.toContain('https://evil.example');
    expect(mail.headers.get('list')).toHaveProperty('unsubscribe');
  });

  test('calls from another site, or reads the applications with a wrong key, in vain', async () => {
    const program = await openProgram(shop);
    const browser = consoleBrowser(api, '203.0.113.99');
    const foreign = await browser.call('POST', '/portal/applications', {
      body: { code: program.code },
      headers: { origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
    const publishable = await shop.call('GET', '/applications', { key: shop.publishableKey });
    expect(publishable.status).toBe(403);
  });
});
