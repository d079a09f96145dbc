import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { beginAttempt } from '../console/sign-in-attempts.ts';
import { takeLane } from '../event-log/lanes.ts';
import { liveWorkers, recordHeartbeat } from '../event-log/live-workers.ts';
import { insertFolder } from '../links/folders.ts';
import { idempotencyKeyState } from '../workspaces/idempotency.ts';
import { createKey, recordKeyUse } from '../workspaces/keys.ts';
import { createWorkspace } from '../workspaces/workspaces.ts';

/** Values that a clock wrote while it was ten years ahead for a moment must not last for ten years. */
const AHEAD = "now() + interval '10 years'";

let stores: TestStores;
let workspaceId: string;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  workspaceId = (await createWorkspace(stores.pool, { name: 'Clock', plan: 'pro' })).id;
});

describe('a value from while the clock was ahead', () => {
  it('does not keep a lane from workers', async () => {
    const { pool } = stores;
    const given = { consumer: 'store', partition: 'clock', leaseMs: 60_000 };
    expect(await takeLane(pool, { ...given, holder: 'dead' })).toMatchObject({ epoch: 1 });
    expect(await takeLane(pool, { ...given, holder: 'next' })).toBeNull();
    await pool.query(`UPDATE log_lanes SET held_until = ${AHEAD} WHERE partition = 'clock'`);
    expect(await takeLane(pool, { ...given, holder: 'next' })).toMatchObject({ epoch: 2 });
  });

  it('does not keep a dead worker alive', async () => {
    const { pool } = stores;
    const given = { consumers: ['store', 'webhooks'], liveMs: 60_000 };
    await recordHeartbeat(pool, { ...given, holder: 'dead' });
    await pool.query(`UPDATE live_workers SET live_until = ${AHEAD}`);
    expect((await liveWorkers(pool)).live).toBe(0);
    expect(await recordHeartbeat(pool, { ...given, holder: 'alive' })).toEqual(
      new Map([
        ['store', ['alive']],
        ['webhooks', ['alive']],
      ]),
    );
    expect((await liveWorkers(pool)).live).toBe(1);
  });

  it('does not move later creation times ahead', async () => {
    const { pool } = stores;
    for (const [table, make] of [
      ['folders', () => insertFolder(pool, workspaceId, crypto.randomUUID())],
      ['api_keys', () => createKey(pool, { workspaceId, kind: 'secret', label: 'x' })],
    ] as const) {
      await make();
      await pool.query(`UPDATE ${table} SET created_at = ${AHEAD} WHERE workspace_id = $1`, [workspaceId]);
      await make();
      const { rows } = await pool.query(
        `SELECT created_at FROM ${table} WHERE workspace_id = $1 AND created_at < now() + interval '10 seconds'`,
        [workspaceId],
      );
      expect(rows, table).toHaveLength(1);
    }
    const { rows } = await pool.query<{ is_now: boolean }>(
      `SELECT next_link_time($1) < now() + interval '10 seconds' AS is_now`,
      [workspaceId],
    );
    expect(rows).toEqual([{ is_now: true }]);
  });

  it('does not keep uses of a key from being recorded', async () => {
    const { pool } = stores;
    const { key } = await createKey(pool, { workspaceId, kind: 'secret', label: 'x' });
    await pool.query(`UPDATE api_keys SET last_used_at = ${AHEAD} WHERE id = $1`, [key.id]);
    await recordKeyUse(pool, key.id);
    const { rows } = await pool.query('SELECT FROM api_keys WHERE id = $1 AND last_used_at <= now()', [
      key.id,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('locks out no account', async () => {
    const { pool } = stores;
    const subject = Buffer.alloc(32, 7);
    for (let attempts = 0; attempts < 5; attempts++)
      expect((await beginAttempt(pool, subject, 5)).allowed).toBe(true);
    expect((await beginAttempt(pool, subject, 5)).allowed).toBe(false);
    await pool.query(
      `UPDATE sign_in_attempts SET locked_until = ${AHEAD}, tried_at = ARRAY(SELECT ${AHEAD} FROM unnest(tried_at))`,
    );
    expect((await beginAttempt(pool, subject, 5)).allowed).toBe(true);
    expect((await beginAttempt(pool, subject, 5)).allowed, 'attempts of that time count no more').toBe(true);
  });

  it('neither reserves an idempotency key nor returns a stored response', async () => {
    const { pool } = stores;
    await pool.query(
      `INSERT INTO idempotency_reservations (workspace_id, key, holder, ends_at)
       VALUES ($1, 'k', gen_random_uuid(), ${AHEAD})`,
      [workspaceId],
    );
    await pool.query(
      `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, status, body, created_at)
       VALUES ($1, 'k', '\\x00', 200, '{}', ${AHEAD})`,
      [workspaceId],
    );
    expect(await idempotencyKeyState(pool, workspaceId, 'k', null)).toEqual({
      stored: null,
      isReserved: false,
    });
  });
});
