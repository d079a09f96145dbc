import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, testApi } from '../../test/support/api.ts';
import { until } from '../../test/support/until.ts';
import { createReportLimit } from './report-limit.ts';

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

test('a workspace takes its places only, in order, and is refused when none becomes free in time', async () => {
  const limit = createReportLimit(2, 60_000);
  const [first, second] = [await limit.take('a'), await limit.take('a')];
  const order: string[] = [];
  const third = limit.take('a').then((release) => {
    order.push('third');
    return release;
  });
  const fourth = limit.take('a').then(() => order.push('fourth'));
  await limit.take('b');
  expect(order).toEqual([]);
  first();
  first();
  (await third)();
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
  second();

  const impatient = createReportLimit(1, 1);
  const release = await impatient.take('a');
  await expect(impatient.take('a')).rejects.toMatchObject({ code: 'unavailable' });
  release();
  await impatient.take('a');
});

test('twelve reports of a workspace at once all get their response', async () => {
  const shop = await api.addWorkspace();
  const get = (path: string) =>
    // On a machine that takes seconds for one, the wait for a place ends with a 503: try again.
    until(
      path,
      () => shop.get(path),
      ({ status }) => status !== 503,
    );
  const reports = await Promise.all(Array.from({ length: 12 }, (_, n) => get(`/channels?days=${n + 1}`)));
  expect(new Set(reports.map(({ status }) => status))).toEqual(new Set([200]));
});

test('a report waits while its workspace has no place, and one of another workspace does not', async () => {
  const busy = await api.addWorkspace();
  const other = await api.addWorkspace();
  const { reportLimit } = api.app;
  const places = await Promise.all(Array.from({ length: 8 }, () => reportLimit.take(busy.workspace.id)));
  let early: number | null = null;
  const waiting = busy.get('/channels').then(({ status }) => {
    early = status;
  });
  // Time for the first one to be answered, if it did not wait.
  for (const days of [1, 2, 3]) expect((await other.get(`/channels?days=${days}`)).status).toBe(200);
  // On a machine that took seconds for that, the wait is over with a 503.
  expect([null, 503]).toContain(early);
  for (const release of places) release();
  await waiting;
  expect((await busy.get('/channels')).status).toBe(200);
});
