import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BlockedDomains, openBlockedDomains } from '../../core/links/blocked-domains.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';

let api: TestApi;
let shop: TestWorkspace;
let directory: string;
let blockedDomains: BlockedDomains;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-blocked-'));
  writeFileSync(join(directory, 'list'), 'bad.example\n');
  blockedDomains = openBlockedDomains(join(directory, 'list'), silentLogger());
  api = await testApi(() => ({ blockedDomains }));
  shop = await api.addWorkspace();
});
afterAll(async () => {
  blockedDomains?.close();
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

test('no endpoint takes a URL on a blocked domain', async () => {
  const bad = 'https://www.bad.example/';
  const row = { destination_url: 'https://shop.example/', name: 'N', smart: true };
  const made = await shop.post<{ links: { id: string }[] }>('/links', row);
  const id = made.body.links[0]?.id;
  const page = { slug: 'a-page', title: 'T' };
  const calls: [string, () => Promise<{ status: number; text: string }>][] = [
    ['destination_url', () => shop.post('/links', { ...row, destination_url: bad, external: true })],
    ['targeting', () => shop.post('/links', { ...row, targeting: { mobile: bad } })],
    ['expired', () => shop.patch(`/links/${id}`, { expired_redirect_url: bad })],
    ['change', () => shop.patch(`/links/${id}`, { destination_url: bad })],
    ['button', () => shop.post('/bio-pages', { ...page, links: [{ label: 'L', url: bad }] })],
    ['social', () => shop.post('/bio-pages', { ...page, social_links: [{ platform: 'github', url: bad }] })],
    ['program', () => shop.post('/programs', { name: 'P', code: 'pcode', destination_url: bad })],
  ];
  for (const [name, call] of calls) {
    const { status, text } = await call();
    expect([name, status, text.includes('the operator has blocked this domain')]).toEqual([name, 400, true]);
  }
  const bulk = await shop.post('/links/bulk', { links: [{ ...row, destination_url: bad }] });
  const imported = await shop.post('/links/import', { text: `destination_url,name\n${bad},N` });
  for (const { text } of [bulk, imported]) expect(text).toContain('the operator has blocked this domain');
});
