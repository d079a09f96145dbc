import { expect } from 'vitest';
import { recordKeyUse } from '../../sql/workspaces/keys.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { type ConsoleBrowser, signedInAs } from '../../test/support/members.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import type { SessionBody } from '../session/schemas.ts';
import type { FirstSteps } from './routes.ts';

const done = async (browser: ConsoleBrowser) =>
  (await browser.call<FirstSteps>('GET', '/first-steps')).body.steps.flatMap((one) =>
    one.done ? one.step : [],
  );
const isShown = async (browser: ConsoleBrowser) =>
  (await browser.call<SessionBody>('GET', '/session')).body.first_steps;

test('each step is done by what the workspace has, stays done, and the last one ends them', async ({
  api,
}) => {
  const { pool } = api.stores;
  const shop = await api.addWorkspace();
  const other = await api.addWorkspace();
  const owner = await signedInAs(api, shop, 'owner');
  expect(await done(owner)).toEqual([]);
  const made = await owner.call<{ links: { id: string }[] }>('POST', '/links', {
    body: { destination_url: 'https://shop.example/', name: 'First', channel: 'other' },
  });
  expect(await done(owner)).toEqual(['link']);
  const { status } = await owner.call('DELETE', `/links/${made.body.links[0]?.id}`);
  expect([status, await done(owner)]).toEqual([200, ['link']]);

  await storeClicks(api.stores, [{ workspaceId: shop.workspace.id }]);
  expect(await done(owner)).toEqual(['link', 'click']);
  await signedInAs(api, shop, 'analyst');
  expect(await done(owner)).toEqual(['link', 'click', 'colleague']);
  await pool.query(`UPDATE api_keys SET last_used_at = now() WHERE workspace_id = $1`, [shop.workspace.id]);
  // The embed and the API reference use the publishable key too, which does not count as the pixel.
  expect(await done(owner)).toEqual(['link', 'click', 'colleague', 'api_key']);
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM api_keys WHERE workspace_id = $1 AND kind = 'publishable'`,
    [shop.workspace.id],
  );
  await recordKeyUse(pool, rows[0]?.id ?? '', { byPixel: true });
  expect(await done(owner)).toEqual(['link', 'click', 'pixel', 'colleague', 'api_key']);
  await pool.query(
    `INSERT INTO domains (id, workspace_id, domain, proof, status) VALUES (gen_random_uuid(), $1, 'go.first.example', 'x', 'verified')`,
    [shop.workspace.id],
  );
  expect(await isShown(owner)).toBe(true);
  await pool.query(
    `INSERT INTO leads (workspace_id, ts, stream_ordinal, visitor_id, attribution_model, attribution_window)
     VALUES ($1, 1, 1, gen_random_uuid(), 'last_click', 30)`,
    [shop.workspace.id],
  );
  expect(await done(owner)).toHaveLength(7);
  expect(await isShown(owner)).toBe(false);
  expect(await done(await signedInAs(api, other, 'owner'))).toEqual([]);
});

test('a member hides them for themselves, an owner for the workspace, and both can undo it', async ({
  api,
}) => {
  const shop = await api.addWorkspace();
  const [owner, analyst] = [await signedInAs(api, shop, 'owner'), await signedInAs(api, shop, 'analyst')];
  const hide = async (browser: ConsoleBrowser, hidden_for: string) =>
    (await browser.call('PATCH', '/first-steps', { body: { hidden_for } })).status;
  const shown = async () => [await isShown(owner), await isShown(analyst)];
  expect([await hide(analyst, 'member'), await shown()]).toEqual([200, [true, false]]);
  expect([await hide(analyst, 'workspace'), await shown()]).toEqual([403, [true, false]]);
  expect([await hide(analyst, 'none'), await shown()]).toEqual([200, [true, true]]);
  expect([await hide(owner, 'workspace'), await shown()]).toEqual([200, [false, false]]);
  expect([await hide(analyst, 'none'), await shown()]).toEqual([200, [false, false]]);
  expect([await hide(owner, 'none'), await shown()]).toEqual([200, [true, true]]);
});
