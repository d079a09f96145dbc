import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, testApi } from '../../test/support/api.ts';
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
  const reports = await Promise.all(
    Array.from({ length: 12 }, (_, n) => shop.get(`/channels?days=${n + 1}`)),
  );
  expect(new Set(reports.map(({ status }) => status))).toEqual(new Set([200]));
});
