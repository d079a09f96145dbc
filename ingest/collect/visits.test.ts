import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesToUuid } from '../../core/ids.ts';
import { CLOSED_PORTAL } from '../../core/referrals/portal.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { addReferralCode } from '../../sql/referrals/referral-codes.ts';
import { createReferralLink } from '../../sql/referrals/referral-links.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';

let stores: TestStores;
let ingest: TestIngest;

beforeAll(async () => {
  stores = await testStores();
  ingest = await startTestIngest(stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

type Referrer = Awaited<ReturnType<typeof makeReferrer>>;

/** A referrer with a link and the old code `anna`, in a program of a new workspace. */
async function makeReferrer(given: { parameters?: string[]; tracking?: string } = {}) {
  const workspace = await makeWorkspace(stores.pool);
  const { pool } = stores;
  if (given.tracking) {
    await pool.query('UPDATE workspaces SET tracking = $2 WHERE id = $1', [workspace.id, given.tracking]);
  }
  const { id: codeLink, destinationId } = await makeLink(pool, workspace.id, 'https://shop.example/join');
  await pool.query(
    `INSERT INTO programs (id, workspace_id, destination_id, code, status, credit_enabled, credit_kind, signup_credit_free,
       signup_credit_paid, purchase_credit, referee_credit, commission_type, commission_rate, levels, first_sale_only,
       hold_days, allow_affiliate_upgrade, payout_methods, min_payout_minor, currency, link_parameters, created_at, updated_at)
     VALUES ($1, $2, $3, 'code', 'active', false, 'credits', 0, 0, 0, 0, 'percent', 20, '{}', false, 0, false, '{}', 0,
       'usd', $4, now(), now())`,
    [codeLink, workspace.id, destinationId, given.parameters ?? ['ref', 'via']],
  );
  const enrollmentId = crypto.randomUUID();
  await pool.query(
    `INSERT INTO enrollments (id, workspace_id, program_id, external_user_id, tier, changed_by, created_at, updated_at)
     VALUES ($1, $2, $3, 'r', 'free', 'test', now(), now())`,
    [enrollmentId, workspace.id, codeLink],
  );
  const program = {
    workspace_id: workspace.id,
    destination_id: destinationId,
    name: 'Friends',
    portal: CLOSED_PORTAL,
  };
  const { slug } = await inTransaction(pool, async (tx) => {
    await addReferralCode(tx, { workspaceId: workspace.id, enrollmentId, code: 'Anna' });
    return createReferralLink(tx, program, enrollmentId);
  });
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM links WHERE slug = $1', [slug]);
  return { workspace, slug, linkId: rows[0]?.id ?? '', enrollmentId };
}

async function report(referrer: Referrer, fields: object = {}, headers: Record<string, string> = {}) {
  const answer = await fetch(`${ingest.url}/collect`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', ...headers },
    body: JSON.stringify({
      key: referrer.workspace.publishable.token,
      type: 'visit',
      code: 'via=anna',
      ...fields,
    }),
  });
  return { status: answer.status, body: (await answer.json()) as { visitor_id?: string | null } };
}

async function clicksOf({ workspace }: Referrer) {
  return (await ingest.events()).flatMap((event) =>
    event.kind === 'click' && bytesToUuid(event.workspaceId) === workspace.id ? [event] : [],
  );
}

describe('a visit of a page with a referrer’s code', () => {
  test('is a click of the referrer’s link, and gives the page a visitor id', async () => {
    const referrer = await makeReferrer();
    const answer = await report(
      referrer,
      { code: 'via=%20ANNA+', referrer: 'https://blog.example/post' },
      { 'user-agent': 'Browser/1', 'accept-language': 'de-AT,de;q=0.9' },
    );
    expect(answer).toEqual({ status: 202, body: { ok: true, visitor_id: expect.stringMatching(UUID) } });
    const [click, ...more] = await clicksOf(referrer);
    expect(more).toEqual([]);
    expect(click).toMatchObject({
      channel: 'referral',
      referer: 'https://blog.example/post',
      userAgent: 'Browser/1',
      language: 'de',
      flags: 0,
    });
    expect(click?.labels).toMatchObject({ slug: referrer.slug, domain: '' });
    expect(click && bytesToUuid(click.linkId)).toBe(referrer.linkId);
    expect(click && bytesToUuid(click.visitorId)).toBe(answer.body.visitor_id);
  });

  test('is of the visitor whom the page knows', async () => {
    const referrer = await makeReferrer();
    const visitor_id = crypto.randomUUID();
    expect((await report(referrer, { visitor_id })).body.visitor_id).toBe(visitor_id);
    expect((await clicksOf(referrer)).map((click) => bytesToUuid(click.visitorId))).toEqual([visitor_id]);
  });

  test('takes slugs as codes, with either parameter', async () => {
    const referrer = await makeReferrer();
    const from = { referrer: 'https://shop.example/home' };
    await report(
      referrer,
      { code: `ref=${referrer.slug.toUpperCase()}`, ...from },
      { origin: 'https://shop.example' },
    );
    await report(referrer, { code: `via=${referrer.slug}` });
    // A page of the same site is not a source.
    expect((await clicksOf(referrer)).map((click) => click.referer)).toEqual(['', '']);
  });

  test.each([
    ['an unknown code', { code: 'via=nobody' }],
    ['a parameter that the program does not take', { code: 'aff=anna' }],
  ])('does nothing with %s', async (_, fields) => {
    const referrer = await makeReferrer();
    expect(await report(referrer, fields)).toEqual({ status: 202, body: { ok: true, visitor_id: null } });
    expect(await clicksOf(referrer)).toEqual([]);
  });

  test('does nothing with the code of another workspace, or of a deleted link', async () => {
    const [referrer, other] = [await makeReferrer(), await makeReferrer()];
    expect((await report(referrer, { code: `via=${other.slug}` })).body.visitor_id).toBeNull();
    await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [other.linkId]);
    expect((await report(other)).body.visitor_id).toBeNull();
    expect([...(await clicksOf(referrer)), ...(await clicksOf(other))]).toEqual([]);
  });

  test('follows the parameters of the program', async () => {
    const referrer = await makeReferrer({ parameters: ['partner'] });
    const key = referrer.workspace.publishable.token;
    const pixel = async (query: string) =>
      (await fetch(`${ingest.url}/pixel.js${query}`)).headers.get('etag');
    await until('the parameters in the script', async () =>
      String(await pixel(`?key=${key}`)).endsWith('-partner"'),
    );
    expect(await pixel('')).not.toContain('partner');
    expect((await report(referrer)).body.visitor_id).toBeNull();
    expect((await report(referrer, { code: 'partner=anna' })).body.visitor_id).toMatch(UUID);
    await stores.pool.query(`UPDATE programs SET link_parameters = '{}' WHERE workspace_id = $1`, [
      referrer.workspace.id,
    ]);
    await until('no parameters', async () => String(await pixel(`?key=${key}`)).endsWith('--"'));
  });

  test.each(['none', 'cookieless'])('gives the page no id when the workspace tracks %s', async (tracking) => {
    const referrer = await makeReferrer({ tracking });
    const { workspace } = referrer;
    await until('the policy', async () => {
      const { rows } = await stores.pool.query('SELECT FROM link_changes WHERE target_id = $1', [
        workspace.id,
      ]);
      return (
        rows.length > 0 &&
        (await report(referrer, { visitor_id: crypto.randomUUID() })).body.visitor_id === null
      );
    });
    const before = (await clicksOf(referrer)).length;
    expect(before).toBeGreaterThan(0);
    // The redirect has counted this visit, but added no visitor id to the address.
    expect((await report(referrer, { code: `ref=${referrer.slug}` })).body.visitor_id).toBeNull();
    expect(await clicksOf(referrer)).toHaveLength(before);
  });

  test('under Global Privacy Control is a click of a new visitor, whom the page does not learn', async () => {
    const referrer = await makeReferrer();
    const visitor_id = crypto.randomUUID();
    expect((await report(referrer, { visitor_id }, { 'sec-gpc': '1' })).body.visitor_id).toBeNull();
    const [click] = await clicksOf(referrer);
    expect(click && bytesToUuid(click.visitorId)).not.toBe(visitor_id);
  });

  test.each([
    ['no code', { code: undefined }],
    ['an empty code', { code: 'via=+' }],
    ['a long code', { code: `via=${'x'.repeat(201)}` }],
    ['NUL in a code', { code: 'via=a%00b' }],
    ['no text', { code: 7 }],
    ['no parameter', { code: '=anna' }],
  ])('is refused with %s', async (_, fields) => {
    expect((await report(await makeReferrer(), fields)).status).toBe(400);
  });

  test('needs a valid key', async () => {
    const referrer = await makeReferrer();
    const key = `pk_live_00000000_${'0'.repeat(48)}`;
    expect((await report(referrer, { key })).status).toBe(401);
  });
});
