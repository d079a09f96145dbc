import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid, uuidToBytes } from '../../core/ids.ts';
import type { Tracking } from '../../core/tracking/tracking.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { visit } from '../../test/support/visitors.ts';

const COOKIE = '9c5f8d1e-3b0a-4c6d-8e2f-112233445566';

let stores: TestStores;
let ingest: TestIngest;
beforeAll(async () => {
  stores = await testStores();
  ingest = await startTestIngest({ ...stores, env: { TRUST_PROXY: '127.0.0.1' } });
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

async function linkWith(tracking: Tracking) {
  const workspace = await makeWorkspace(stores.pool);
  await updateWorkspace(stores.pool, workspace.id, { tracking });
  const { id, slug } = await makeLink(stores.pool, workspace.id, 'https://example.com/?a=1', {
    channel: 'facebook',
    utm_source: 'facebook',
  });
  const url = `${ingest.url}/${slug}`;
  const probe = await makeLink(stores.pool, workspace.id, 'https://example.com/');
  const cookies = tracking === 'full' ? 1 : 0;
  await expect.poll(async () => (await visit(`${ingest.url}/${probe.slug}`)).cookies).toHaveLength(cookies);
  return { id, url, workspaceId: workspace.id };
}

const clicksOf = async (linkId: string) =>
  (await ingest.events()).filter(
    (event): event is ClickEvent => event.kind === 'click' && bytesToUuid(event.linkId) === linkId,
  );

const from = (address: string, headers: Record<string, string> = {}) => ({
  headers: { 'x-forwarded-for': address, ...headers },
});

/** Every byte of the journal. */
function journal(): Buffer {
  const directory = join(ingest.dataDir, 'journal', 'ingest-0');
  return Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name))));
}

test.each(['cookieless', 'none'] as const)(
  'with tracking %s a visit leaves no cookie and no _vid, and its cookie is neither read nor kept',
  async (tracking) => {
    const { id, url } = await linkWith(tracking);
    const requests: Record<string, string>[] = [{}, { cookie: `_vid=${COOKIE}` }, { 'sec-gpc': '1' }];
    for (const headers of requests) {
      const { status, location, cookies } = await visit(
        `${url}?_vid=${COOKIE}`,
        from('198.51.100.7', headers),
      );
      expect(status).toBe(302);
      expect(cookies).toEqual([]);
      expect(location?.href).toBe('https://example.com/?a=1&utm_source=facebook');
    }
    expect(await clicksOf(id)).toHaveLength(3);
    const bytes = journal();
    expect(bytes.includes(COOKIE)).toBe(false);
    expect(bytes.includes(Buffer.from(uuidToBytes(COOKIE)))).toBe(false);
    expect(bytes.includes(Buffer.from('00000000000000000000ffffc6336407', 'hex'))).toBe(false);
  },
);

test('without cookies a visitor is told apart by address and browser, in one workspace', async () => {
  const [one, other] = [await linkWith('cookieless'), await linkWith('cookieless')];
  const today = () => new Date().toISOString().slice(0, 10);
  const idsOf = async ({ id }: { id: string }, count: number) =>
    (await clicksOf(id)).slice(-count).map((click) => bytesToUuid(click.visitorId));
  // Visits again when the day changed meanwhile: visitor ids change at midnight.
  for (let day = ''; day !== today(); ) {
    day = today();
    await visit(one.url, from('198.51.100.1'));
    await visit(one.url, from('198.51.100.1', { cookie: `_vid=${COOKIE}` }));
    await visit(one.url, from('198.51.100.2'));
    await visit(
      one.url,
      from('198.51.100.1', { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0' }),
    );
    await visit(other.url, from('198.51.100.1'));
  }
  const ids = await idsOf(one, 4);
  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(3);
  const [elsewhere] = await idsOf(other, 1);
  expect(ids).not.toContain(elsewhere);
});

test('without tracking each click is a visitor of its own', async () => {
  const { id, url } = await linkWith('none');
  for (let n = 0; n < 3; n++) await visit(url, from('198.51.100.1', { cookie: `_vid=${COOKIE}` }));
  const ids = (await clicksOf(id)).map((click) => bytesToUuid(click.visitorId));
  expect(new Set(ids).size).toBe(3);
});

test('a change of tracking applies to the links that are there, and other workspaces keep theirs', async () => {
  const [changed, kept] = [await linkWith('full'), await linkWith('full')];
  expect((await visit(changed.url)).cookies).toHaveLength(1);
  await updateWorkspace(stores.pool, changed.workspaceId, { tracking: 'cookieless' });
  await expect.poll(async () => (await visit(changed.url)).cookies).toEqual([]);
  const { cookies, location } = await visit(kept.url);
  expect(cookies).toHaveLength(1);
  expect(location?.searchParams.has('_vid')).toBe(true);
  await updateWorkspace(stores.pool, changed.workspaceId, { tracking: 'full' });
  await expect.poll(async () => (await visit(changed.url)).cookies).toHaveLength(1);
});

const AD = 'a=2&gclid=Cj0KCQ-1_x&fbclid=IwAR';

test('a click keeps the id that an advertising network gave it, and the destination gets it', async () => {
  const { id, url } = await linkWith('full');
  const { location } = await visit(`${url}?${AD}`);
  expect(location?.searchParams.get('gclid')).toBe('Cj0KCQ-1_x');
  expect(location?.searchParams.get('fbclid')).toBe('IwAR');
  await visit(url);
  expect((await clicksOf(id)).map(({ ad }) => ad)).toEqual([{ param: 'gclid', id: 'Cj0KCQ-1_x' }, null]);
});

test.each([
  ['tracking is cookieless', 'cookieless', {}],
  ['tracking is none', 'none', {}],
  ['the visitor has Global Privacy Control', 'full', { 'sec-gpc': '1' }],
] as const)('a click keeps no id of an advertising network where %s', async (_, tracking, headers) => {
  const { id, url } = await linkWith(tracking);
  const { location } = await visit(`${url}?${AD}`, { headers });
  expect(location?.searchParams.get('gclid')).toBe('Cj0KCQ-1_x');
  expect((await clicksOf(id)).map(({ ad }) => ad)).toEqual([null]);
});
