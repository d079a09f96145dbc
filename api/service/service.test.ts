import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { createRedirectHealth } from '../../core/tier/redirect-health.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { ProblemList } from './routes.ts';

let body: string;
let asked: number;
const ingest = createServer((request, response) => {
  asked += 1;
  response.writeHead(request.url === '/health/ready' ? 200 : 404).end(body);
});
let shortUrl: string;
let api: TestApi;

beforeAll(async () => {
  await new Promise<void>((resolve) => ingest.listen(0, '127.0.0.1', resolve));
  shortUrl = `http://127.0.0.1:${(ingest.address() as AddressInfo).port}`;
  api = await testApi(() => ({ config: readConfig({ SHORT_URL: shortUrl }) }));
});
afterAll(async () => {
  await api.close();
  ingest.close();
});

test('a member sees that ingest loses clicks, and ingest is asked once for many', async () => {
  asked = 0;
  body = '{"status":"degraded"}';
  const shop = await api.addWorkspace();
  const analyst = await signedInAs(api, shop, 'analyst');
  const problems = () => analyst.call<ProblemList>('GET', '/problems');
  // The state is cached for seconds, and the calls may take longer.
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const responses = await Promise.all([problems(), problems(), problems()]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(asked).toBe(1);
  } finally {
    vi.useRealTimers();
  }
  const kinds = async () => (await problems()).body.problems.map(({ kind }) => kind);
  await expect.poll(kinds).toEqual(['clicks_lost']);
  expect((await shop.get('/problems')).status).toBe(401);
});

test.each([
  ['{"status":"ready"}', 'ready'],
  ['{"status":"loading"}', 'unknown'],
  ['another program', 'unknown'],
])('the response %s of ingest is %s', async (given, state) => {
  body = given;
  await expect.poll(() => createRedirectHealth(shortUrl)()).toBe(state);
});

test('an ingest that does not respond is unknown', async () => {
  expect(await createRedirectHealth('http://127.0.0.1:1')()).toBe('unknown');
});
