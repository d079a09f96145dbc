import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../test/support/api.ts';
import { makeBioPage } from '../test/support/bio.ts';
import { makeDomain } from '../test/support/domains.ts';
import { operator } from '../test/support/hoplog.ts';
import { makeLink, startTestIngest, type TestIngest } from '../test/support/ingest.ts';
import { untilSynced } from '../test/support/synced-links.ts';

let api: TestApi;
let shop: TestWorkspace;
let other: TestWorkspace;
let ingest: TestIngest;
let cli: ReturnType<typeof operator>;
let directory: string;
let list: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-blocked-'));
  list = join(directory, 'domains.txt');
  writeFileSync(list, '# none yet\n');
  api = await testApi();
  [shop, other] = [await api.addWorkspace(), await api.addWorkspace()];
  cli = operator(api.stores);
  ingest = await start();
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

const start = (given: Partial<Parameters<typeof startTestIngest>[0]> = {}) =>
  startTestIngest({ ...api.stores, env: { BLOCKED_DOMAINS_FILE: list }, ...given });
const linkOf = (workspace: TestWorkspace, url = 'https://shop.example/', columns = {}) =>
  makeLink(api.stores.pool, workspace.workspace.id, url, columns);

async function get(slug: string, init: RequestInit = {}) {
  const answer = await fetch(`${ingest.url}/${slug}`, { redirect: 'manual', ...init });
  return { status: answer.status, text: await answer.text() };
}
const statusOf = async (slug: string) => (await get(slug)).status;

test('a blocked link is 410 with a page that says so, and redirects again once it is unblocked', async () => {
  const [link, beside] = [await linkOf(shop), await linkOf(shop)];
  await expect.poll(() => statusOf(link.slug)).toBe(302);
  await cli.run('link', 'block', link.slug);
  await expect.poll(() => statusOf(link.slug)).toBe(410);
  expect((await get(link.slug)).text).toContain('The operator of this service has blocked this link');
  expect(await statusOf(beside.slug)).toBe(302);
  await cli.run('link', 'unblock', link.id);
  await expect.poll(() => statusOf(link.slug)).toBe(302);
});

test('a link is named by its address where its slug is on several domains', async () => {
  const slug = `twice-${Date.now()}`;
  const { number } = await makeDomain(api.stores.pool, shop.workspace.id, 'go.blocked.example');
  const [own, branded] = [
    await linkOf(other, 'https://shop.example/', { slug }),
    await linkOf(shop, 'https://shop.example/', { slug, domain_number: number }),
  ];
  const refused = await cli.run('link', 'block', slug);
  expect(refused.status).toBe(1);
  for (const { id } of [own, branded]) expect(refused.stderr).toContain(id);
  expect(refused.stderr).toContain(`https://go.blocked.example/${slug}`);
  expect(refused.stderr).toContain(`https://hop.example/${slug}`);
  for (const [name, id] of [
    [`go.blocked.example/${slug}`, branded.id],
    [`https://GO.blocked.example/${slug}?x=1`, branded.id],
    [`https://hop.example/${slug}`, own.id],
  ] as const) {
    const { link } = await cli.json<{ link: { id: string } }>('link', 'block', name);
    expect([name, link.id]).toEqual([name, id]);
  }
  expect((await cli.run('link', 'block', `none.blocked.example/${slug}`)).stderr).toContain('no link has');
  // A moved link keeps its former address until another link takes it.
  await shop.patch(`/links/${branded.id}`, { domain: null, slug: `${slug}-moved` });
  const { link } = await cli.json<{ link: { id: string } }>('link', 'block', `go.blocked.example/${slug}`);
  expect(link.id).toBe(branded.id);
});

test('a suspended workspace: its links, pages and programs are 410, its keys get a clear 403', async () => {
  const [link, secret, kept] = [
    await linkOf(shop),
    await linkOf(shop, 'https://shop.example/', { password_hash: 'x', expires_at: new Date(0) }),
    await linkOf(other),
  ];
  await makeBioPage(shop, 'suspended-page');
  const program = { name: 'Friends', code: 'suspended-code', destination_url: 'https://shop.example/' };
  expect((await shop.post('/programs', program)).status).toBe(201);
  await expect.poll(() => statusOf('suspended-page')).toBe(200);
  await cli.run('workspace', 'suspend', '--workspace', shop.workspace.id);
  for (const slug of [link.slug, secret.slug, 'suspended-page', 'Suspended-Page', 'suspended-code']) {
    await expect.poll(() => statusOf(slug)).toBe(410);
  }
  expect((await get(secret.slug, { method: 'POST', body: 'password=x' })).status).toBe(410);
  expect((await get(link.slug)).text).toContain('has blocked this link');
  expect(await statusOf(kept.slug)).toBe(302);
  expect(await statusOf(`:${shop.workspace.id.replaceAll('-', '')}`)).toBe(404);
  for (const key of [shop.secretKey, shop.publishableKey]) {
    const { status, body } = await shop.get('/me', { key });
    expect([status, body.error.code]).toEqual([403, 'forbidden']);
    expect(body.error.message).toContain('this workspace is suspended');
  }
  const collected = await get('collect', {
    method: 'POST',
    body: JSON.stringify({ key: shop.publishableKey, type: 'identify', email: 'a@mail.example' }),
  });
  expect([collected.status, collected.text.includes('suspended')]).toEqual([403, true]);
  expect((await other.get('/me')).status).toBe(200);

  // The next start has PostgreSQL down, and serves from its file.
  await untilSynced(ingest);
  await ingest.close();
  const down = 'postgres://hoplog@127.0.0.1:1/hoplog';
  ingest = await start({ dataDir: ingest.dataDir, databaseUrl: down });
  expect([await statusOf(link.slug), await statusOf(kept.slug)]).toEqual([410, 302]);
  await ingest.close();
  ingest = await start({ dataDir: ingest.dataDir });

  await cli.run('workspace', 'resume', '--workspace', shop.workspace.slug);
  await expect.poll(() => statusOf(link.slug)).toBe(302);
  await expect.poll(() => statusOf('suspended-page')).toBe(200);
  expect((await shop.get('/me')).status).toBe(200);
});

test('a domain on the list, and every one below it, is 410 as soon as the file changes', async () => {
  const links = {
    exact: await linkOf(shop, 'https://Bad.example./x'),
    below: await linkOf(shop, 'https://a.b.bad.example/'),
    targeted: await linkOf(shop, 'https://fine.example/', { targeting: { mobile: 'https://bad.example' } }),
    expired: await linkOf(shop, 'https://fine.example/', { expired_redirect_url: 'https://bad.example' }),
    encoded: await linkOf(shop, 'https://xn--bse-sna.example/'),
    alike: await linkOf(shop, 'https://notbad.example/?u=https://bad.example'),
  };
  const statuses = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(links).map(async ([name, { slug }]) => [name, await statusOf(slug)])),
    );
  const all = (status: number) => ({
    exact: status,
    below: status,
    targeted: status,
    expired: status,
    encoded: status,
    alike: 302,
  });
  await expect.poll(statuses).toEqual(all(302));
  writeFileSync(list, '# reported\nBAD.example\nböse.example # another\n\n');
  await expect.poll(statuses).toEqual(all(410));
  writeFileSync(list, 'not a domain\n');
  await expect.poll(statuses).toEqual(all(410));
  writeFileSync(list, '');
  await expect.poll(statuses).toEqual(all(302));
});

test('a start with a list that can not be read names the setting', async () => {
  const missing = { env: { BLOCKED_DOMAINS_FILE: join(directory, 'missing') } };
  await expect(start(missing)).rejects.toThrow(/BLOCKED_DOMAINS_FILE/);
});
