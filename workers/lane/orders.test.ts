import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OrderEvent } from '../../core/events/types.ts';
import { updateWorkspace } from '../../sql/workspaces.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { order } from '../test-support/events.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
});
afterEach(() => rig.close());

/** Delivers the reports one after the other; answers what Postgres and ClickHouse say the order is. */
async function delivered(...reports: OrderEvent[]) {
  const stream = await rig.stream('ingest-0');
  rig.work();
  for (const report of reports) {
    stream.append([report]);
    await rig.settled(stream);
  }
  const { rows } = await rig.stores.pool.query<{ amount: number; source: string; version: string }>(
    'SELECT amount_minor AS amount, source, version FROM orders',
  );
  const stored = await rig.ask<{ amount: string; version: string }>(
    'SELECT amount_minor AS amount, version FROM orders FINAL',
  );
  const [record] = rows;
  expect(rows).toHaveLength(1);
  expect({ amount: Number(stored.amount), version: stored.version }).toEqual({
    amount: record?.amount,
    version: record?.version,
  });
  return { amount: record?.amount, source: record?.source };
}

function report(ts: number, source: 'pixel' | 'server', amountMinor: number): OrderEvent {
  return order({ workspace: rig.workspace, orderId: 'o-1', ts: NOW + ts, source, amountMinor });
}

describe('of several reports of one order', () => {
  it("a server's replaces the pixel's", async () => {
    expect(await delivered(report(0, 'pixel', 100), report(5, 'server', 200))).toEqual({
      amount: 200,
      source: 'server',
    });
  });

  it("the pixel's never replaces a server's", async () => {
    expect(await delivered(report(5, 'server', 200), report(9, 'pixel', 100))).toEqual({
      amount: 200,
      source: 'server',
    });
  });

  it('the earliest of a kind stays', async () => {
    const reports = [report(5, 'pixel', 100), report(7, 'pixel', 300), report(9, 'pixel', 400)];
    expect(await delivered(...reports)).toEqual({ amount: 100, source: 'pixel' });
  });

  it('the first seen fixes the attribution model, whatever the workspace chooses later', async () => {
    const { pool } = rig.stores;
    await updateWorkspace(pool, rig.workspace, { attribution_model: 'linear', attribution_window: 7 });
    await delivered(report(0, 'pixel', 100));
    await updateWorkspace(pool, rig.workspace, { attribution_model: 'first_click' });
    const { rows } = await pool.query(
      'SELECT attribution_model AS model, attribution_window AS window FROM orders',
    );
    expect(rows).toEqual([{ model: 'linear', window: 7 }]);
  });
});
