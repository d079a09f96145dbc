import { expect } from 'vitest';
import { apiTest } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { AlertRecord } from './schemas.ts';

const SLACK = { type: 'slack', address: 'https://203.0.114.7/services/T0/B0/X' };
const BODY = {
  name: 'Clicks changed',
  query: { metrics: ['clicks'] },
  condition: { metric: 'clicks', type: 'change', percent: 50, window_hours: 3 },
  recipients: [SLACK],
};

apiTest('an alert is created, changed, paused and deleted, and has a history', async ({ shop, api }) => {
  const { status, body: made } = await shop.post<AlertRecord>('/alerts', BODY);
  expect(status).toBe(201);
  expect(made).toMatchObject({
    ...BODY,
    recipients: [{ ...SLACK, state: 'ok', error: null }],
    quiet_hours: 12,
    state: 'ok',
    checked_until: null,
  });
  expect((await shop.get(`/alerts/${made.id}`)).body).toEqual(made);
  await api.stores.pool.query(
    `WITH fired AS (UPDATE alerts SET state = 'firing', is_told = true, told_at = now() WHERE id = $1 RETURNING *)
     INSERT INTO alert_changes (id, alert_id, workspace_id, state, value, expected, is_told, at)
     SELECT gen_random_uuid(), id, workspace_id, 'firing', 3, 200, true, now() FROM fired`,
    [made.id],
  );
  const history = (await shop.get<{ history: object[] }>(`/alerts/${made.id}/history`)).body.history;
  expect(history).toMatchObject([{ state: 'firing', value: 3, expected: 200, is_told: true }]);
  const renamed = await shop.patch<AlertRecord>(`/alerts/${made.id}`, { name: 'Other', is_active: false });
  expect(renamed.body).toMatchObject({ name: 'Other', is_active: false, state: 'firing' });
  const other = { condition: { metric: 'conversions', type: 'none', window_hours: 24 } };
  expect((await shop.patch(`/alerts/${made.id}`, other)).body).toMatchObject({ ...other, state: 'ok' });
  expect((await shop.delete(`/alerts/${made.id}`)).body).toEqual({ ok: true });
  expect((await shop.get(`/alerts/${made.id}/history`)).status).toBe(404);
});

const { condition } = BODY;
apiTest('a wrong condition is refused, and the field is named', async ({ shop }) => {
  for (const [wrong, path] of [
    [{ type: 'over', percent: undefined }, 'condition.value'],
    [{ type: 'none', percent: undefined, value: 3 }, 'condition.value'],
    [{ percent: undefined }, 'condition.percent'],
    [{ percent: 5 }, 'condition.percent'],
    [{ metric: 'revenue' }, 'condition.metric'],
    [{ window_hours: 169 }, 'condition.window_hours'],
    [{ metric: 'sales' }, 'condition.metric'],
  ] as const) {
    const { status, body } = await shop.post('/alerts', { ...BODY, condition: { ...condition, ...wrong } });
    const paths = body.error.details?.map((detail: { path: string }) => detail.path);
    expect([status, paths?.[0]], JSON.stringify(wrong)).toEqual([400, path]);
  }
});

apiTest('an analyst manages no alerts', async ({ api, shop }) => {
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('GET', '/alerts')).status).toBe(403);
});
