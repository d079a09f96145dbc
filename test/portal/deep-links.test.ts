import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { openProgram, portalBrowser } from '../support/portal.ts';
import { type PortalBench, portalBench } from '../support/portal-bench.ts';

let bench: PortalBench;
let api: TestApi;
let shop: TestWorkspace;
let people: PortalBench['people'];
beforeAll(async () => {
  bench = await portalBench();
  ({ api, people } = bench);
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => bench.close());

const PAGE = 'https://shop.example/welcome/shoes?color=red';
type Browser = ReturnType<typeof portalBrowser>;
const linkTo = async (browser: Browser, code: string, url: unknown = PAGE) => {
  const { statusCode, body } = await browser.post('/portal/links', { code, url });
  const answer = JSON.parse(body) as { url?: string; error?: { details?: { path: string }[] } };
  return [statusCode, answer.url ?? answer.error?.details?.map(({ path }) => path)];
};
const forwards = async () =>
  (
    await api.stores.pool.query<{ forward_path: boolean }>(
      `SELECT forward_path FROM links JOIN referral_links ON link_id = id WHERE workspace_id = $1 ORDER BY created_at`,
      [shop.workspace.id],
    )
  ).rows.map(({ forward_path }) => forward_path);

test('an affiliate makes links to pages of a program whose owner allows it, also one who came before', async () => {
  const program = await openProgram(shop, { review: 'none' });
  const allow = (deep_links: boolean) => shop.patch(`/programs/${program.id}`, { portal: { deep_links } });
  const one = await people.affiliate(shop, program);
  const browser = await people.signedIn(one);
  expect(await linkTo(browser, program.code)).toEqual([404, undefined]);
  await allow(true);
  expect(await linkTo(browser, program.code)).toEqual([200, `${one.link}/shoes?color=red`]);
  const two = await people.affiliate(shop, program);
  expect(await forwards()).toEqual([true, true]);
  expect(await linkTo(await people.signedIn(two), program.code)).toEqual([
    200,
    `${two.link}/shoes?color=red`,
  ]);

  // A referrer takes the rule of the program to which he moves.
  const { id } = await openProgram(shop);
  await shop.patch(`/enrollments/${two.partnerId}`, { program_id: id });
  expect(await forwards()).toEqual([true, false]);
  await allow(false);
  expect(await forwards()).toEqual([false, false]);
  expect(await linkTo(browser, program.code)).toEqual([404, undefined]);
});

test('no link leads elsewhere, and strangers get none', async () => {
  const program = await openProgram(shop, { review: 'none', deep_links: true });
  const other = await openProgram(await api.addWorkspace(), { review: 'none', deep_links: true });
  const browser = await people.signedIn(await people.affiliate(shop, program));
  expect(await linkTo(portalBrowser(api), program.code)).toEqual([401, undefined]);
  expect(await linkTo(browser, other.code)).toEqual([404, undefined]);
  expect(await linkTo(browser, 'no-such-code')).toEqual([404, undefined]);
  for (const url of [
    'https://evil.example/welcome/shoes',
    'https://shop.example@evil.example/welcome/a',
    'https://me:secret@shop.example/welcome/a',
    'https://shop.example/welcome/../admin',
    'https://shop.example/welcome/%2e%2e%2fadmin',
    'https://shop.example/welcome/%252e%252e/admin',
    'https://shop.example/welcome\\..\\admin',
    'https://shop.example/welcomed',
    'http://shop.example/welcome/a',
    'javascript:alert(1)',
    '//shop.example/welcome/a',
    '/welcome/a',
    '',
    'https://shop.example/welcome/\u0000',
    'https://shop.example/welcome/\ud800',
    `https://shop.example/welcome/${'a'.repeat(2_000)}`,
    7,
  ])
    expect([url, await linkTo(browser, program.code, url)]).toEqual([url, [400, ['url']]]);
});
