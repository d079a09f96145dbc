import { expect } from 'vitest';
import { addTestCalls, TEST_CALLS_LIMIT, type TestCall } from '../../sql/pixel/pixel-tests.ts';
import { addReportProblems } from '../../sql/pixel/report-problems.ts';
import { sharedShopTest } from '../../test/support/fixtures.ts';
import type { PixelTest } from './schemas.ts';

sharedShopTest(
  'problems are counted over reports, with the last example and the reason in words, until they are cleared',
  async ({ api, shop }) => {
    const found = { workspaceId: shop.workspace.id, problem: 'amount_rounded', field: 'amount' } as const;
    const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 10, 0, second));
    await addReportProblems(api.stores.pool, [{ ...found, count: 2, example: '33.333', at: at(1) }]);
    await addReportProblems(api.stores.pool, [
      { ...found, count: 1, example: '1.005', at: at(2) },
      { ...found, problem: 'amount_missing', count: 1, example: null, at: at(3) },
    ]);
    expect((await shop.get('/pixel/problems')).body).toEqual({
      problems: [
        {
          ...{ problem: 'amount_missing', field: 'amount', outcome: 'refused', message: 'is required' },
          ...{ example: null, count: 1, last_at: '2026-11-20T10:00:03.000Z' },
        },
        {
          ...{ problem: 'amount_rounded', field: 'amount', outcome: 'corrected' },
          message: 'was rounded to the minor unit of its currency',
          ...{ example: '1.005', count: 3, last_at: '2026-11-20T10:00:02.000Z' },
        },
      ],
    });
    expect((await shop.delete('/pixel/problems')).body).toEqual({ ok: true });
    expect((await shop.get('/pixel/problems')).body).toEqual({ problems: [] });
  },
);

sharedShopTest(
  'a test has the address to open, and lists calls of its own workspace, up to a limit',
  async ({ api, shop }) => {
    const made = await shop.post<PixelTest>('/pixel/tests', { url: 'https://shop.example/p?a=1#x' });
    const { id, test_url } = made.body;
    expect([made.status, test_url]).toEqual([201, `https://shop.example/p?a=1&hoplog_test=${id}#x`]);
    const call: TestCall = {
      ...{ type: 'order', outcome: 'corrected', visitors: 2, names: ['email'] },
      order: { order_id: 'o', amount: 49.9, currency: 'eur' },
      problems: [{ problem: 'amount_text', field: 'amount', example: '"49.90"' }],
    };
    const other = await api.addWorkspace();
    const calls = [shop, other].map(({ workspace }) => ({
      ...{ testId: id, workspaceId: workspace.id, at: new Date(0), call },
    }));
    await addTestCalls(api.stores.pool, calls);
    expect((await shop.get<PixelTest>(`/pixel/tests/${id}`)).body.calls).toEqual([
      {
        ...call,
        at: '1970-01-01T00:00:00.000Z',
        problems: [
          {
            ...{ problem: 'amount_text', field: 'amount', outcome: 'corrected', example: '"49.90"' },
            message: 'came as text and was read as a number',
          },
        ],
      },
    ]);
    for (let n = 0; n < TEST_CALLS_LIMIT + 5; n++) await addTestCalls(api.stores.pool, calls.slice(0, 1));
    expect((await shop.get<PixelTest>(`/pixel/tests/${id}`)).body.calls).toHaveLength(TEST_CALLS_LIMIT);
    expect((await other.get(`/pixel/tests/${id}`)).status).toBe(404);
  },
);

sharedShopTest.for(['ftp://shop.example', 'javascript:alert(1)', 'shop.example'])(
  '%s can’t be tested',
  async (url, { shop }) => {
    expect((await shop.post('/pixel/tests', { url })).status).toBe(400);
  },
);
