import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { unreplayedDeadLetters } from '../../sql/event-log/dead-letters.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { click, heartbeat, identify, order } from '../test-support/events.ts';

const NOW = Date.UTC(2026, 10, 20, 12) * 1_000;
const MINUTE = 60_000_000;
const LINK = uuidv7();

let rig: Rig;
let stream: Awaited<ReturnType<Rig['stream']>>;
beforeEach(async () => {
  rig = await createRig();
  stream = await rig.stream('ingest-0');
});
afterEach(() => rig.close());

const clicked = (visitor: string, ts: number) => click({ workspace: rig.workspace, link: LINK, visitor, ts });

async function storedOrder(orderId: string) {
  const find = async () =>
    (
      await rig.stores.pool.query<{ visitor_id: string | null; other_visitor_ids: string[] }>(
        `SELECT visitor_id, other_visitor_ids FROM orders WHERE order_id = $1 AND attributed_version = version`,
        [orderId],
      )
    ).rows[0] ?? null;
  await expect.poll(find).not.toBeNull();
  return find();
}

/** Links that an order's shares name. */
async function creditedLinks(orderId: string): Promise<number> {
  const row = await rig.ask<{ links: string }>(
    `SELECT count() AS links FROM attributed_shares FINAL WHERE order_id = '${orderId}' AND NOT replaced AND link_id = '${LINK}'`,
  );
  return Number(row.links);
}

describe('an id that came in an address', () => {
  it.each([
    ['31 minutes after its click binds no one', [-31 * MINUTE], 0, false],
    ['29 minutes after its click is the visitor', [-29 * MINUTE], 0, true],
    ['soon after the last of several clicks is the visitor', [-900 * MINUTE, -MINUTE], 0, true],
    [
      'whose click came later than 30 minutes before and much later binds no one',
      [-900 * MINUTE, 5 * MINUTE],
      0,
      false,
    ],
    ['40 minutes ago, right after its click, is the visitor', [-41 * MINUTE], -40 * MINUTE, true],
    ['whose click is not known is the visitor: it may have been lost', [], 0, true],
  ])('%s', async (_what, clicks, landed, binds) => {
    const visitor = uuidv7();
    const landedAt = [NOW + landed];
    stream.append([
      ...clicks.map((at) => clicked(visitor, NOW + at)),
      identify({
        workspace: rig.workspace,
        visitor,
        ts: NOW + 6 * MINUTE,
        email: 'ada@shop.example',
        landedAt,
      }),
      order({ workspace: rig.workspace, visitor, ts: NOW + 6 * MINUTE + 1, orderId: 'o-1', landedAt }),
      heartbeat(NOW + 7 * MINUTE),
    ]);
    rig.work();
    expect(await storedOrder('o-1')).toEqual({ visitor_id: binds ? visitor : null, other_visitor_ids: [] });
    expect(await creditedLinks('o-1')).toBe(binds && clicks.length > 0 ? 1 : 0);
    const { rows: emails } = await rig.stores.pool.query('SELECT visitor_id FROM identities');
    expect(emails).toEqual(binds ? [{ visitor_id: visitor }] : []);
    const { rows: leads } = await rig.stores.pool.query('SELECT visitor_id FROM leads');
    expect(leads).toHaveLength(binds ? 1 : 0);
    expect(await rig.ask('SELECT toString(visitor_id) AS visitor, email FROM identifies')).toEqual({
      visitor: binds ? visitor : '00000000-0000-0000-0000-000000000000',
      email: 'ada@shop.example',
    });
    expect((await rig.stores.pool.query('SELECT FROM waiting_reports')).rowCount).toBe(0);
  });

  it('of someone else leaves the other ids of the browser, which it is not joined with', async () => {
    const [theirs, own, older, elsewhere] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    stream.append([
      clicked(theirs, NOW - 40 * MINUTE),
      clicked(own, NOW - 10 * MINUTE),
      clicked(older, NOW - 90 * MINUTE),
      order({
        workspace: rig.workspace,
        visitor: theirs,
        others: [own, older, elsewhere],
        // The time of `older` is unknown; `elsewhere` belongs to another workspace.
        landedAt: [NOW - MINUTE, NOW - 9 * MINUTE, 0, NOW - MINUTE],
        ts: NOW,
        orderId: 'o-2',
      }),
      heartbeat(NOW + 1),
    ]);
    rig.work();
    expect(await storedOrder('o-2')).toEqual({ visitor_id: own, other_visitor_ids: [older, elsewhere] });
    const { rows } = await rig.stores.pool.query('SELECT DISTINCT visitor_id FROM joined_visitors');
    expect(rows.map(({ visitor_id: id }) => id).sort()).toEqual([own, older, elsewhere].sort());
  });
});

it('a report waits for clicks of other streams, and what is attributed waits for it', async () => {
  const visitor = uuidv7();
  const slow = await rig.stream('ingest-1');
  slow.append([heartbeat(NOW - 80 * MINUTE)]);
  stream.append([
    clicked(visitor, NOW - 90 * MINUTE),
    identify({ workspace: rig.workspace, visitor, ts: NOW, email: 'bea@shop.example', landedAt: [NOW] }),
    // Reported by a server, which knows only the email.
    order({
      workspace: rig.workspace,
      ts: NOW + 2,
      orderId: 'o-3',
      source: 'server',
      email: 'bea@shop.example',
    }),
    heartbeat(NOW + 10),
  ]);
  rig.work();
  await rig.settled(stream);
  expect((await rig.stores.pool.query('SELECT FROM waiting_reports')).rowCount).toBe(1);
  slow.append([clicked(visitor, NOW - 1), heartbeat(NOW + 10)]);
  await storedOrder('o-3');
  expect(await creditedLinks('o-3')).toBe(1);
});

it('a report waits at most a minute for a stream that stands still, and keeps its visitor then', async () => {
  const visitor = uuidv7();
  const dead = await rig.stream('ingest-1');
  dead.append([heartbeat(NOW - 80 * MINUTE)]);
  stream.append([
    clicked(visitor, NOW - 90 * MINUTE),
    order({ workspace: rig.workspace, visitor, ts: NOW, orderId: 'o-4', landedAt: [NOW] }),
    heartbeat(NOW + 10),
  ]);
  rig.work();
  await rig.settled(stream);
  const { pool } = rig.stores;
  expect((await pool.query('SELECT FROM waiting_reports')).rowCount).toBe(1);
  await pool.query("UPDATE waiting_reports SET created_at = now() - interval '61 seconds'");
  await expect
    .poll(async () => (await pool.query('SELECT visitor_id FROM orders')).rows)
    .toEqual([{ visitor_id: visitor }]);
});

it('a report with text that PostgreSQL refuses is a dead letter, and its neighbors are stored', async () => {
  const landedAt = [NOW];
  const visitor = uuidv7();
  stream.append([
    order({ workspace: rig.workspace, visitor, ts: NOW, orderId: 'before', landedAt }),
    order({ workspace: rig.workspace, visitor, ts: NOW + 1, orderId: 'no\0text', landedAt }),
    order({ workspace: rig.workspace, visitor, ts: NOW + 2, orderId: 'behind', landedAt }),
    heartbeat(NOW + 3),
  ]);
  rig.work();
  for (const orderId of ['before', 'behind'])
    expect(await storedOrder(orderId)).toMatchObject({ visitor_id: visitor });
  const letters = await unreplayedDeadLetters(rig.stores.pool, 10);
  expect(letters).toEqual([
    expect.objectContaining({ sequence: 1n, reason: expect.stringMatching(/^unstorable: `order_id`/) }),
  ]);
});

it('reports are stored once by several workers', async () => {
  const events = Array.from({ length: 300 }, (_, n) => [
    identify({
      workspace: rig.workspace,
      visitor: uuidv7(),
      ts: NOW + 2 * n,
      email: `${n}@shop.example`,
      landedAt: [NOW],
    }),
    order({
      workspace: rig.workspace,
      visitor: uuidv7(),
      ts: NOW + 2 * n + 1,
      orderId: `many-${n}`,
      landedAt: [NOW],
    }),
  ]).flat();
  stream.append([...events, heartbeat(NOW + MINUTE)]);
  for (let n = 0; n < 3; n++) rig.work();
  const found = async (table: string) => (await rig.stores.pool.query(`SELECT FROM ${table}`)).rowCount;
  await expect.poll(async () => [await found('orders'), await found('waiting_reports')]).toEqual([300, 0]);
  expect([await found('identities'), await rig.stored('identifies')]).toEqual([
    300,
    { rows: 300, distinct: 300 },
  ]);
});
