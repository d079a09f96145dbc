import { expect } from 'vitest';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';

test('beyond 1,000 requests at a time the next is 503 at once, and health checks still pass', async ({
  api,
  shop,
}) => {
  const burst = Array.from({ length: 1_100 }, () => shop.get('/folders'));
  const health = await api.app.inject('/health/live');
  expect(health.statusCode).toBe(200);
  const answers = await Promise.all(burst);
  const refused = answers.filter((answer) => answer.status !== 200);
  expect(refused.length).toBeGreaterThanOrEqual(100);
  expect(refused.every(({ status, headers }) => status === 503 && headers['retry-after'] === '1')).toBe(true);
  expect(answers.filter((answer) => answer.status === 200).length).toBeGreaterThanOrEqual(900);
  expect((await shop.get('/folders')).status).toBe(200);
  expect(await api.deps.registry.getSingleMetricAsString('hoplog_api_requests_in_flight')).toMatch(/ 0$/m);
});

test('latency is measured by route pattern, without a series for each id', async ({ api, shop }) => {
  await shop.get('/links/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2');
  await shop.get('/nowhere-1');
  const text = await api.deps.registry.getSingleMetricAsString('hoplog_api_request_seconds');
  expect(text).toContain('method="GET",route="/api/v1/links/:id",status="404"');
  expect(text).toContain('route="unknown",status="404"');
  expect(text).not.toContain('01a1fda0');
  expect(text).not.toContain('nowhere');
});
