import { expect } from 'vitest';
import type { TestApi } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { type ConsoleBrowser, signedInAs } from '../../test/support/members.ts';
import { plantVictim, type Victim } from '../../test/support/victim.ts';
import type { ProblemList } from './routes.ts';

let planted: Victim;
let owner: ConsoleBrowser;
let analyst: ConsoleBrowser;
let stranger: ConsoleBrowser;
test.beforeAll(async ({ api, shop }) => {
  planted = await plantVictim(api, shop);
  owner = await signedInAs(api, shop, 'owner');
  analyst = await signedInAs(api, shop, 'analyst');
  stranger = await signedInAs(api, await api.addWorkspace(), 'owner');
  await change(api, 'UPDATE connections SET last_event_at = now()');
});

/** @param sql with `$1` for an id */
const change = (api: TestApi, sql: string, ...values: unknown[]) => api.stores.pool.query(sql, values);
async function problems(browser: ConsoleBrowser) {
  const { status, text, body } = await browser.call<ProblemList>('GET', '/problems');
  expect([status, text]).toEqual([200, text]);
  return body.problems;
}
const kinds = async (browser: ConsoleBrowser) => (await problems(browser)).map(({ kind }) => kind);

test('nothing is wrong in a workspace where nothing fails', async () => {
  expect(await problems(owner)).toEqual([]);
});

/** SQL that breaks something, the resulting problem, and SQL that fixes it. `$1` is the id of the problem. */
const BROKEN: [string, () => string | null, string[], object, string[]][] = [
  [
    'a webhook whose last attempt failed',
    () => planted.webhook,
    [`UPDATE webhooks SET failing_since = '2026-11-01T10:00:00Z' WHERE id = $1`],
    { kind: 'webhook_failing', since: '2026-11-01T10:00:00.000000Z', name: 'https://8.8.8.8/secret-path' },
    ['UPDATE webhooks SET failing_since = NULL WHERE id = $1'],
  ],
  [
    'a webhook that the service disabled',
    () => planted.webhook,
    [`UPDATE webhooks SET is_active = false, disabled_at = '2026-11-02T10:00:00Z' WHERE id = $1`],
    { kind: 'webhook_disabled', since: '2026-11-02T10:00:00.000000Z' },
    ['UPDATE webhooks SET is_active = true, disabled_at = NULL WHERE id = $1'],
  ],
  [
    'a domain without its record',
    () => planted.domain,
    [
      `UPDATE domains SET missing_since = '2026-11-03T10:00:00Z', problem = 'gone', status = 'failing' WHERE id = $1`,
    ],
    { kind: 'domain_failing', since: '2026-11-03T10:00:00.000000Z', reason: 'gone' },
    [`UPDATE domains SET missing_since = NULL, problem = NULL, status = 'verified' WHERE id = $1`],
  ],
  [
    'a domain that waits for its proof since yesterday',
    () => planted.domain,
    [
      `UPDATE domains SET is_default = false, status = 'pending', created_at = created_at - interval '2 days' WHERE id = $1`,
    ],
    { kind: 'domain_pending' },
    [`UPDATE domains SET status = 'verified', created_at = created_at + interval '2 days' WHERE id = $1`],
  ],
  [
    'a connection that has received nothing since yesterday',
    () => planted.connection,
    [
      `UPDATE connections SET last_event_at = NULL, created_at = created_at - interval '2 days' WHERE id = $1`,
    ],
    { kind: 'connection_silent', name: 'stripe' },
    [`UPDATE connections SET last_event_at = now() WHERE id = $1`],
  ],
  [
    'a connection whose calls have had a wrong signature since its last event',
    () => planted.connection,
    [
      `UPDATE connections SET signing_secret = 'sealed', refused_at = now() + interval '1 hour' WHERE id = $1`,
    ],
    { kind: 'connection_refused', name: 'stripe' },
    [`UPDATE connections SET last_event_at = refused_at + interval '1 second' WHERE id = $1`],
  ],
  [
    'a connection whose events match no customer',
    () => planted.connection,
    [`UPDATE connection_events SET status = 'unmatched' WHERE connection_id = $1`],
    { kind: 'connection_unmatched', name: 'stripe', count: 1 },
    [`UPDATE connection_events SET status = 'ignored' WHERE connection_id = $1`],
  ],
  [
    'a connection whose events failed',
    () => planted.connection,
    [`UPDATE connection_events SET status = 'failed' WHERE connection_id = $1`],
    { kind: 'connection_failed', count: 1 },
    [`UPDATE connection_events SET status = 'ignored' WHERE connection_id = $1`],
  ],
  [
    'a fulfilment whose deliveries fail',
    () => planted.fulfilment,
    [`UPDATE grant_deliveries SET error = 'refused' WHERE fulfilment_id = $1`],
    { kind: 'fulfilment_failing', count: 1 },
    [`UPDATE grant_deliveries SET error = NULL WHERE fulfilment_id = $1`],
  ],
  [
    'orders without a rate',
    () => null,
    [`UPDATE orders SET without_rate = true, currency = 'xyz'`],
    { kind: 'orders_without_rate', name: 'xyz', count: 1 },
    ['UPDATE orders SET without_rate = false'],
  ],
  [
    'a payout file that nobody has paid for a week',
    () => planted.payoutExport,
    [`UPDATE payout_exports SET created_at = created_at - interval '8 days' WHERE id = $1`],
    { kind: 'payout_waiting', name: 'csv', count: 1 },
    [`UPDATE payout_exports SET created_at = created_at + interval '8 days' WHERE id = $1`],
  ],
  [
    'destinations that failed twice',
    () => null,
    [
      `INSERT INTO destination_checks (workspace_id, url_sha256, url, host, due_at, failures, failing_since, error)
       SELECT workspace_id, sha256(url::bytea), url, 'shop.example', now(), failures, since, '404'
       FROM (SELECT min(workspace_id::text)::uuid AS workspace_id FROM webhooks) AS planted,
         (VALUES ('https://shop.example/b', 2, '2026-11-02T10:00:00Z'::timestamptz),
           ('https://shop.example/a', 3, '2026-11-01T10:00:00Z'), ('https://shop.example/c', 1, '2026-10-01T10:00:00Z'))
           AS failing (url, failures, since)`,
    ],
    {
      kind: 'destination_failing',
      since: '2026-11-01T10:00:00.000000Z',
      name: 'shop.example',
      count: 2,
      reason: 'https://shop.example/a: 404',
    },
    ['DELETE FROM destination_checks'],
  ],
  [
    'a limit of the plan that is near',
    () => null,
    [
      `INSERT INTO problem_alerts (workspace_id, kind, subject, name, count, state, since, is_told)
       SELECT min(workspace_id::text)::uuid, 'plan_limit_near', 'links', 'links', 84, 'firing', now(), true FROM webhooks`,
    ],
    { kind: 'plan_limit_near', name: 'links', count: 84 },
    ['DELETE FROM problem_alerts'],
  ],
  [
    'purchases without a rate',
    () => null,
    [`UPDATE purchases SET without_rate = true, currency = 'xyz'`],
    { kind: 'purchases_without_rate', name: 'xyz', count: 1 },
    ['UPDATE purchases SET without_rate = false'],
  ],
];

test.for(BROKEN)(
  'every member sees %s until it is fixed, and no other workspace does',
  async (given, { api }) => {
    const [, idOf, broken, problem, fixed] = given;
    const id = idOf();
    const values = id === null ? [] : [id];
    for (const sql of broken) await change(api, sql, ...values);
    expect(await problems(owner)).toEqual([
      { since: expect.any(String), name: expect.any(String), count: null, reason: null, id, ...problem },
    ]);
    expect(await problems(analyst)).toEqual(await problems(owner));
    expect(await problems(stranger)).toEqual([]);
    for (const sql of fixed) await change(api, sql, ...values);
    expect(await problems(owner)).toEqual([]);
  },
);

test('the worst comes first', async ({ api }) => {
  await change(api, `UPDATE connection_events SET status = 'unmatched'`);
  await change(api, `UPDATE webhooks SET is_active = false, disabled_at = now()`);
  expect(await kinds(owner)).toEqual(['webhook_disabled', 'connection_unmatched']);
  await change(api, `UPDATE connection_events SET status = 'ignored'`);
  await change(api, `UPDATE webhooks SET is_active = true, disabled_at = NULL`);
});

test('dead letters are shown to owners, unless a partner runs the workspace', async ({ api, shop }) => {
  await change(
    api,
    `INSERT INTO dead_letters (partition, log_offset, reason, payload) VALUES ('x', 1, 'malformed', '')`,
  );
  const partner = await change(
    api,
    `INSERT INTO partners (id, name) VALUES (gen_random_uuid(), 'P') RETURNING id`,
  );
  expect((await problems(owner)).map(({ kind, count }) => [kind, count])).toEqual([['dead_letters', 1]]);
  expect([await kinds(analyst), await kinds(stranger)]).toEqual([[], ['dead_letters']]);
  await change(
    api,
    `UPDATE workspaces SET partner_id = $1, partner_external_id = 'x' WHERE id = $2`,
    partner.rows[0].id,
    shop.workspace.id,
  );
  expect(await kinds(owner)).toEqual([]);
});
