import fc from 'fast-check';
import { expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { contradictions } from './contradictions.ts';
import { type Call, createDriver, createPrograms } from './driver.ts';
import { type History, history, USERS } from './history.ts';
import { createModel } from './model/model.ts';
import { YEN_PER_100_USD } from './model/money.ts';
import { merchant } from './support.ts';

test.beforeAll(async ({ api }) => {
  await api.stores.pool.query(`INSERT INTO currency_rates (currency, base, rate) VALUES ('usd', 'jpy', $1)`, [
    Number(YEN_PER_100_USD) / 100,
  ]);
});

/** How many random histories a run plays; HISTORIES=5000 plays more. Each run has a seed of its own. */
const RUNS = Number(process.env.HISTORIES ?? (NIGHTLY ? 250 : 40));
/** A failure names its seed and path: HISTORY_SEED=n HISTORY_PATH=p plays that history again. */
const replayed = {
  ...(process.env.HISTORY_SEED !== undefined && { seed: Number(process.env.HISTORY_SEED) }),
  ...(process.env.HISTORY_PATH !== undefined && { path: process.env.HISTORY_PATH }),
};
const callerOf =
  (shop: TestWorkspace): Call =>
  async (method, path, body, { fromPage = false, idempotencyKey } = {}) => {
    const { headers, ...response } = await shop.call<Record<string, unknown>>(method, path, {
      body,
      ...(fromPage && { key: shop.publishableKey }),
      ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    });
    const exportId = headers['x-export-id'];
    return { ...response, exportId: exportId === undefined ? null : String(exportId) };
  };

/**
 * Currencies without a rate at first, one for each of the histories that run at the same time. Most of the time of each
 * is waiting for the database.
 */
const FOREIGN = ['eur', 'gbp', 'chf', 'sek'];

/** Plays a history; again if the UTC day, by which signups are counted, changed meanwhile. */
async function play(api: TestApi, given: History, foreign: string): Promise<void> {
  for (;;) {
    const day = new Date().getUTCDate();
    try {
      return await playOnce(api, given, foreign);
    } catch (error) {
      if (new Date().getUTCDate() === day) throw error;
    }
  }
}

async function playOnce(api: TestApi, { programs, actions }: History, foreign: string): Promise<void> {
  await api.stores.pool.query('DELETE FROM currency_rates WHERE currency = $1', [foreign]);
  const shop = await api.addWorkspace();
  const call = callerOf(shop);
  const model = createModel(programs);
  const driver = createDriver({
    call,
    stores: api.stores,
    workspaceId: shop.workspace.id,
    programIds: await createPrograms(call, programs),
    foreign,
  });
  for (const [number, action] of actions.entries()) {
    const responses = await driver.act(action, { number, grants: model.grants() });
    expect(responses, JSON.stringify(action)).toEqual([model.act(action)]);
  }
  for (let user = 0; user < USERS; user++) {
    expect(await driver.balance(user), `balance of u${user}`).toEqual(model.balance(user));
  }
  expect(await contradictions(api.stores.pool, shop.workspace.id)).toEqual([]);
  expect((await verifyLedger(api.stores.pool, [shop.workspace.id])).wrong).toEqual([]);
  for (const user of model.enrolled().slice(0, 2)) {
    const { affiliate, rewards } = await merchant(shop).stats(`u${user}`);
    const unit = rewards.cash.currency === 'usd' ? 100 : 1;
    const { pending, eligible, paid, creditEarned, creditDelivered } = model.balance(user);
    expect(affiliate.balance).toEqual({
      pending: pending / unit,
      eligible: eligible / unit,
      paid: paid / unit,
    });
    const { credits = { earned: 0, delivered: 0, pending: 0 } } = rewards.credits;
    expect(credits).toEqual({
      earned: (creditEarned + creditDelivered) / 100,
      delivered: creditDelivered / 100,
      pending: creditEarned / 100,
    });
  }
}

test(`${RUNS} random histories end with every balance of the reference model`, {
  timeout: 3_600_000,
}, async ({ api }) => {
  const numRuns = Math.ceil(RUNS / FOREIGN.length);
  const runs = FOREIGN.map((foreign) =>
    fc.assert(
      fc.asyncProperty(history, (given) => play(api, given, foreign)),
      { numRuns, ...replayed },
    ),
  );
  await Promise.all(runs);
});

test('actions run at the same time cause no contradiction, and no call fails because of another', {
  timeout: 600_000,
}, async ({ api }) => {
  const storm = fc.asyncProperty(history, async ({ programs, actions }) => {
    const shop = await api.addWorkspace();
    const statuses = new Set<number>();
    const call: Call = async (...given) => {
      const response = await callerOf(shop)(...given);
      statuses.add(response.status);
      return response;
    };
    const driver = createDriver({
      call,
      stores: api.stores,
      workspaceId: shop.workspace.id,
      programIds: await createPrograms(call, programs),
      foreign: 'nok',
    });
    // Enrollments and first signups are in order; later actions are not.
    const [first, rest] = [actions.slice(0, 12), actions.slice(12)];
    for (const [number, action] of first.entries()) await driver.act(action, { number, grants: 1 });
    await Promise.all(rest.map((action, index) => driver.act(action, { number: 12 + index, grants: 3 })));
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    expect(await contradictions(api.stores.pool, shop.workspace.id)).toEqual([]);
    expect((await verifyLedger(api.stores.pool, [shop.workspace.id])).wrong).toEqual([]);
    const { rows } = await api.stores.pool.query<{ least: string }>(
      `SELECT coalesce(min(left_over), 0) AS least FROM (
         SELECT sum(l.amount) AS left_over FROM ledger_entries l JOIN commissions c ON c.id = l.commission_id
         WHERE l.workspace_id = $1 AND c.kind <> 'manual' GROUP BY l.enrollment_id) AS balance`,
      [shop.workspace.id],
    );
    // Refunds never reverse more than was earned. A claw-back may.
    expect(Number(rows[0]?.least)).toBeGreaterThanOrEqual(0);
  });
  await fc.assert(storm, { numRuns: Math.ceil(RUNS / 8) });
});
