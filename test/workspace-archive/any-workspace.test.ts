import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { type Call, createDriver, createPrograms } from '../referrals/driver.ts';
import { history } from '../referrals/history.ts';
import { createModel } from '../referrals/model/model.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { testStores } from '../support/stores.ts';
import { plantVictim } from '../support/victim.ts';
import { anyLinks, plantClicks, plantLinks } from './any-links.ts';
import { archives, contentOf, importFrom } from './support.ts';

/** How many random workspaces a run moves. */
const RUNS = NIGHTLY ? 30 : 3;

const files = archives();

test.beforeAll(async ({ api }) => {
  await api.stores.pool.query(`INSERT INTO currency_rates (currency, base, rate) VALUES ('usd', 'jpy', 1.5)`);
});
afterAll(async () => {
  files.remove();
});

const callerOf =
  (shop: TestWorkspace): Call =>
  async (method, path, body, { fromPage = false } = {}) => {
    const { headers, ...response } = await shop.call<Record<string, unknown>>(method, path, {
      body,
      ...(fromPage && { key: shop.publishableKey }),
    });
    const exportId = headers['x-export-id'];
    return { ...response, exportId: exportId === undefined ? null : String(exportId) };
  };

test('any workspace that is exported, imported into an empty deployment, and exported again has equal files', async ({
  api,
}) => {
  await fc.assert(
    fc.asyncProperty(history, anyLinks, async ({ programs, actions }, links) => {
      const shop = await api.addWorkspace();
      const { id } = shop.workspace;
      await plantVictim(api, shop);
      await plantClicks(api, id, await plantLinks(shop, links));
      const call = callerOf(shop);
      const model = createModel(programs);
      const programIds = await createPrograms(call, programs);
      const driver = createDriver({ call, stores: api.stores, workspaceId: id, programIds, foreign: 'eur' });
      for (const [number, action] of actions.entries()) {
        await driver.act(action, { number, grants: model.grants() });
        model.act(action);
      }
      const path = await files.write(api.stores, id);

      const other = await testStores();
      try {
        const proofs = { '_hoplog.go.victim.example': ['hoplog-verification=test'] };
        await importFrom(path, other, { proofs });
        expect(await contentOf(await files.write(other, id))).toEqual(await contentOf(path));
        expect((await verifyLedger(other.pool, [id])).wrong).toEqual([]);
      } finally {
        await other.close();
        await removeNames(api, id);
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 300_000);

/** The next workspace has the same slugs. */
async function removeNames(api: TestApi, workspaceId: string): Promise<void> {
  const { admin } = api.stores;
  await admin.query('UPDATE links SET slug = slug || $2 WHERE workspace_id = $1', [workspaceId, workspaceId]);
  await admin.query('UPDATE bio_pages SET slug = left(id::text, 30) WHERE workspace_id = $1', [workspaceId]);
  await admin.query('DELETE FROM slugs WHERE workspace_id = $1', [workspaceId]);
  await admin.query(
    "UPDATE domains SET domain = number || '.example', status = 'pending' WHERE workspace_id = $1",
    [workspaceId],
  );
}
