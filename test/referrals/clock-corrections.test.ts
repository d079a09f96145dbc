import { expect } from 'vitest';
import { insertCorrections } from '../../sql/event-log/clock-corrections.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { merchant, PAID_AT_ONCE } from './support.ts';

const DAY_MICROS = 86_400_000_000;

test('correcting a clock that was ahead moves the hold periods of the sales of that time, and no others', async ({
  api,
}) => {
  const { pool } = api.stores;
  const shop = await api.addWorkspace();
  const m = merchant(shop);
  await m.referral({ ...PAID_AT_ONCE, hold_days: 30 });
  await m.purchase('n', 'ahead', 100);
  await m.purchase('n', 'right', 100);
  const { streamId, ordinal } = await registerStream(pool, 'ingest-ahead');
  const now = Date.now() * 1_000;
  await pool.query(
    `UPDATE orders SET ts = $2, stream_ordinal = $3 WHERE workspace_id = $1 AND order_id = 'ahead'`,
    [shop.workspace.id, now + 2 * DAY_MICROS, ordinal],
  );
  const eligible = async () => {
    const { rows } = await pool.query<{ order_id: string; at: number }>(
      `SELECT order_id, (extract(epoch FROM eligible_at) * 1000000)::bigint AS at
       FROM commissions JOIN orders ON internal_id = order_internal_id WHERE orders.workspace_id = $1`,
      [shop.workspace.id],
    );
    return Object.fromEntries(rows.map((row) => [row.order_id, row.at]));
  };
  const before = await eligible();
  await insertCorrections(pool, [
    {
      streamId,
      ordinal,
      first: 0n,
      before: 9n,
      fromTs: now + DAY_MICROS,
      toTs: now + 3 * DAY_MICROS,
      shift: DAY_MICROS,
    },
  ]);
  expect(await eligible()).toEqual({ ...before, ahead: Number(before.ahead) - DAY_MICROS });

  for (const change of [
    "eligible_at = eligible_at + interval '1 day'",
    "eligible_at = now(), status = 'eligible'",
  ]) {
    const statement = `UPDATE commissions SET ${change} WHERE workspace_id = $1`;
    await expect(pool.query(statement, [shop.workspace.id]), change).rejects.toThrow(/refuses the change/);
  }
});
