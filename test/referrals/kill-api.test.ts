import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { type ApiProcess, startApi } from './api-process.ts';
import { contradictions } from './contradictions.ts';
import { createDriver, createPrograms, type Driver, type Step } from './driver.ts';
import { type Action, type History, history, USERS } from './history.ts';
import { createModel } from './model/model.ts';
import { YEN_PER_100_USD } from './model/money.ts';

let stores: TestStores;
let dataDir: string;

beforeAll(async () => {
  stores = await testStores();
  dataDir = await mkdtemp(join(tmpdir(), 'hoplog-kill-api-'));
  await stores.pool.query(`INSERT INTO currency_rates (currency, base, rate) VALUES ('usd', 'jpy', $1)`, [
    Number(YEN_PER_100_USD) / 100,
  ]);
});
afterAll(async () => {
  await stores.close();
  await rm(dataDir, { recursive: true, force: true });
});

const HISTORIES = NIGHTLY ? 2 : 1;
const KILLS = 4;
/** A failure names its seed: HISTORY_SEED=n plays the same histories. The moments of the kills differ. */
const SEED = Number(process.env.HISTORY_SEED ?? randomInt(2 ** 31));

/**
 * Actions that found their subject. The others returned "not found" and left nothing; repeated later they may find it,
 * so a client does not repeat those blindly. After a failed line or a rejection, an earlier payment that paid nothing
 * may pay something when it is repeated: no client repeats payments then. All signups are reported by a server, and
 * none is reviewed or reevaluated, because a refused signup may be accepted when it is repeated.
 */
function effective({ programs, actions }: History): Action[] {
  const model = createModel(programs);
  return actions.filter((action) => {
    if (action.type === 'fail' || action.type === 'reject') return false;
    if (action.type === 'review' || action.type === 'reevaluate' || action.type === 'rates') return false;
    if (action.type === 'move' || action.type === 'erase' || action.type === 'forget') return false;
    // An import is a command, not a call of the API. Days that have passed would pass again when earlier calls are
    // repeated.
    if (action.type === 'import') return false;
    if (action.type === 'signup' && !action.byServer) return false;
    const known = action.type !== 'status' || model.enrolled().includes(action.user);
    const { matched, status } = model.act(action);
    const unmatched = action.type === 'signup' && matched === false;
    const nothing = action.type === 'refund' && (matched === false || status !== undefined);
    return known && !unmatched && !nothing && status !== 404;
  });
}

/** A repeated call would count for a day by the terms of another moment. */
const withoutCaps = ({ programs, actions }: History): History => ({
  programs: programs.map((terms) => ({ ...terms, max_signups_per_day: null })),
  actions: actions.map((action) =>
    action.type === 'terms' ? { ...action, terms: { ...action.terms, max_signups_per_day: null } } : action,
  ),
});

/** Continues a history until the API is gone. */
async function playUntilKilled(driver: Driver, steps: { action: Action; step: Step }[]): Promise<void> {
  try {
    for (const { action, step } of steps) await driver.act(action, step);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // what fetch throws when the server is gone
  }
}

test('after a kill -9 in the middle of a history, repeating the same calls ends in the same ledger', {
  timeout: 900_000,
}, async () => {
  onTestFailed(() => console.error(`failed with HISTORY_SEED=${SEED}`));
  for (const sample of fc.sample(history, { numRuns: HISTORIES, seed: SEED }).map(withoutCaps)) {
    const actions = effective(sample);
    const model = createModel(sample.programs);
    const { id } = await createWorkspace(stores.pool, { name: 'Killed', plan: 'unlimited' });
    const keyOf = async (kind: 'secret' | 'publishable') =>
      (await createKey(stores.pool, { workspaceId: id, kind, label: 'test' })).token;
    const keys = { secret: await keyOf('secret'), publishable: await keyOf('publishable') };
    let api: ApiProcess = await startApi(stores, dataDir, keys);
    try {
      const programIds = await createPrograms(api.call, sample.programs);
      const driver = createDriver({
        call: (...call) => api.call(...call),
        stores,
        workspaceId: id,
        programIds,
        foreign: 'eur',
      });
      const steps = actions.map((action, number) => {
        const step = { number, grants: model.grants() };
        model.act(action);
        return { action, step };
      });
      for (let kill = 1; kill <= KILLS; kill++) {
        const until = Math.floor((steps.length * kill) / (KILLS + 1));
        // Repeats from the first call, like a client that knows none of the responses.
        for (const { action, step } of steps.slice(0, until)) await driver.act(action, step);
        const interrupted = playUntilKilled(driver, steps.slice(until));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 80));
        await api.kill();
        await interrupted;
        api = await startApi(stores, dataDir, keys);
      }
      for (const { action, step } of steps) await driver.act(action, step);
      for (let user = 0; user < USERS; user++) {
        expect(await driver.balance(user), `balance of u${user}`).toEqual(model.balance(user));
      }
      expect(await contradictions(stores.pool, id)).toEqual([]);
    } finally {
      await api.kill();
    }
  }
});
