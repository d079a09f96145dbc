import { expect, vi } from 'vitest';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { until } from '../../test/support/until.ts';
import { createReportLimit } from './report-limit.ts';

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

test('twelve reports of a workspace at once all get their response', async ({ api }) => {
  const shop = await api.addWorkspace();
  const get = (path: string) =>
    // On a slow machine the wait for a slot may end with a 503: try again.
    until(
      path,
      () => shop.get(path),
      ({ status }) => status !== 503,
    );
  const reports = await Promise.all(Array.from({ length: 12 }, (_, n) => get(`/channels?days=${n + 1}`)));
  expect(new Set(reports.map(({ status }) => status))).toEqual(new Set([200]));
});

test('a report waits while its workspace has no place, and one of another workspace does not', async ({
  api,
}) => {
  const busy = await api.addWorkspace();
  const other = await api.addWorkspace();
  const { reportLimit } = api.app;
  const places = await Promise.all(Array.from({ length: 8 }, () => reportLimit.take(busy.workspace.id)));
  let early: number | null = null;
  const waiting = busy.get('/channels').then(({ status }) => {
    early = status;
  });
  // Gives the first call time to get its response, if it did not wait.
  for (const days of [1, 2, 3]) expect((await other.get(`/channels?days=${days}`)).status).toBe(200);
  // On a slow machine the wait may have ended with a 503.
  expect([null, 503]).toContain(early);
  for (const release of places) release();
  await waiting;
  expect((await busy.get('/channels')).status).toBe(200);
});

const PROGRAM = { name: 'N', code: 'a-program-of-places', destination_url: 'https://shop.example/join' };
const READS = [
  '/analytics/query',
  '/bio-pages/$page/stats',
  '/channels',
  '/clicks',
  '/enrollments',
  '/enrollments/$partner',
  '/links',
  '/links/search?sort=clicks',
  '/referrals/stats?external_user_id=r',
  '/referrals/summary',
  '/visitors',
  '/visitors/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2/journey',
];
test('each route that reads clicks takes a place of the workspace, and one of the strangers for a publishable key', async ({
  api,
}) => {
  const shop = await api.addWorkspace();
  await shop.post('/programs', PROGRAM);
  const enroll = { external_user_id: 'r', email: 'r@mail.example', tier: 'free' };
  const partner = (await shop.post<{ partner_id: string }>('/referrals/enroll', enroll)).body.partner_id;
  const page = (await shop.post<{ id: string }>('/bio-pages', { slug: 'page-of-places' })).body.id;
  const own = vi.spyOn(api.app.reportLimit, 'take');
  const strangers = vi.spyOn(api.app.strangerLimit, 'take');
  try {
    for (const read of READS) {
      own.mockClear();
      const path = read.replace('$page', page).replace('$partner', partner);
      if (read === '/analytics/query') await shop.post(path, { metrics: ['clicks'] });
      else await shop.get(path);
      expect([read, own.mock.calls]).toEqual([read, [[shop.workspace.id]]]);
    }
    expect(strangers).not.toHaveBeenCalled();
    own.mockClear();
    const answer = await shop.get('/referrals/stats?external_user_id=r', { key: shop.publishableKey });
    expect(answer.status).toBe(200);
    expect([own.mock.calls, strangers.mock.calls]).toEqual([[], [[shop.workspace.id]]]);
  } finally {
    own.mockRestore();
    strangers.mockRestore();
  }
});
