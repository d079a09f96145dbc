import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../core/access/passwords.ts';
import { type TestApi, type TestWorkspace, testApi } from '../test/support/api.ts';
import { makeBioPage } from '../test/support/bio.ts';
import { type LinkColumns, makeLink, startTestIngest, type TestIngest } from '../test/support/ingest.ts';
import { keepConnection } from '../test/support/kept-connection.ts';
import { BROWSER } from '../test/support/visitors.ts';

let api: TestApi;
let shop: TestWorkspace;
let ingest: TestIngest;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  ingest = await startTestIngest(api.stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await api?.close();
});

const link = (columns: LinkColumns) => async () =>
  `/${(await makeLink(api.stores.pool, shop.workspace.id, 'https://example.com/', columns)).slug}`;
const at = (path: string) => async () => path;

/** Values that differ between two visits or that only people get. Ids and pages have equal lengths. */
const OWN = ['set-cookie', 'location', 'x-request-id'];

test.each<[what: string, status: number, path: () => Promise<string>]>([
  ['an unknown slug', 404, at('/nothing-here')],
  ['what is no slug', 404, at('/a/b')],
  ['a link', 302, link({})],
  ['an expired link', 410, link({ expires_at: new Date(0) })],
  [
    'an expired link that leads elsewhere',
    302,
    link({ expires_at: new Date(0), expired_redirect_url: 'https://example.com/over' }),
  ],
  ['a password form', 200, async () => link({ password_hash: await hashPassword('x', LINK_COST) })()],
  ['a bio page', 200, async () => `/${(await makeBioPage(shop, 'head-of-it')).slug}`],
  ['robots.txt', 200, at('/robots.txt')],
  ['favicon.ico', 404, at('/favicon.ico')],
  ['the pixel', 200, at('/pixel.js')],
  ['liveness', 200, at('/health/live')],
  ['what takes a POST only', 405, at('/collect')],
])('a HEAD of %s is told as its GET, and the connection takes what comes next', async (_, status, path) => {
  const to = await path();
  const { ask, close } = await keepConnection(ingest.url);
  const agent = { 'User-Agent': BROWSER };
  const got = await ask('GET', to, '', agent);
  expect(got.status).toBe(status);
  for (let n = 0; n < 2; n++) {
    const head = await ask('HEAD', to, '', agent);
    expect(head.status).toBe(status);
    expect(head.body).toBe('');
    expect(told(head)).toEqual(told(got));
    expect((await ask('GET', '/health/live')).body).toBe('{"status":"ok"}');
  }
  close();
});

function told({ headers }: { headers: Record<string, string> }): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.includes(name)));
}
