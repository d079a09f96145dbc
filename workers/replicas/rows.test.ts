import { Readable } from 'node:stream';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importClicks } from '../../api/click-imports/import-clicks.ts';
import { undoImport } from '../../api/click-imports/undo-import.ts';
import { eraseVisitor } from '../../cli/erase-visitor.ts';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import { readReplicaMarks } from '../../sql/event-log/replica-marks.ts';
import type { RegisteredStream } from '../../sql/event-log/streams.ts';
import { type Workspace, workspaceById } from '../../sql/workspaces/workspaces.ts';
import { makeLink } from '../../test/support/ingest.ts';
import { type OwnClickHouse, ownClickHouse } from '../../test/support/own-clickhouse.ts';
import { until } from '../../test/support/until.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { replayDeadLetters } from '../dead-letters/replay.ts';
import { eraseRequested } from '../jobs/erase.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { click, heartbeat, identify, order } from '../test-support/events.ts';
import type { LogWriter } from '../test-support/log-writer.ts';
import { addReplicaFromLog } from '../test-support/replica-from-log.ts';
import { createRepair } from './repair.ts';

const TABLES = ['clicks', 'identifies', 'orders', 'attributed_shares', 'removed_clicks', 'deleted_links'];

let main: OwnClickHouse;
let second: OwnClickHouse;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
});
afterAll(() => Promise.all([main.close(), second.close()]));

let rig: Rig;
let stream: LogWriter & RegisteredStream;
let reports = 0;
let buyers: string[] = [];
beforeEach(async () => {
  rig = await createRig();
  stream = await rig.stream('ingest-0');
  reports = 0;
  buyers = [];
  for (const { clickhouse } of [main, second]) {
    for (const table of TABLES) await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  }
  await addReplicaFromLog(rig.stores.pool, 'second');
  await rig.stores.pool.query('UPDATE replicas SET is_readable = true');
});
afterEach(() => rig.close());

function replicas(clients: Partial<Record<'main' | 'second', ClickHouseClient>> = {}): [Replica, Replica] {
  return [
    { name: 'main', clickhouse: clients.main ?? main.clickhouse },
    { name: 'second', clickhouse: clients.second ?? second.clickhouse },
  ];
}

function work(given = replicas(), changes: Parameters<Rig['work']>[0] = {}) {
  return rig.work({ clickhouse: main.clickhouse, replicas: given, ...changes });
}

/** Writes buyers that clicked, with an identify and an order that wait for the watermark, and are attributed. */
async function report(): Promise<void> {
  const { workspace } = rig;
  const { pool } = rig.stores;
  const ts = Date.now() * 1_000;
  for (let n = 0; n < 20; n++) {
    const visitor = uuidv7();
    buyers.push(visitor);
    const at = ts + n * 10;
    const landedAt = [at];
    stream.append([
      click({ workspace, link: uuidv7(), visitor, ts: at }),
      identify({ workspace, visitor, ts: at + 1, email: `buyer-${reports}@shop.example`, landedAt }),
      order({ workspace, visitor, ts: at + 2, orderId: `order-${reports++}`, landedAt }),
    ]);
  }
  stream.append([heartbeat(ts + 1_000)]);
  await rig.settled(stream);
  const open = async () => {
    const { rows } = await pool.query<{ open: number }>(
      `SELECT (SELECT count(*) FROM waiting_reports) + (SELECT count(*) FROM order_publications)
           + (SELECT count(*) FROM leads WHERE attributed_at IS NULL) AS open,
         (SELECT count(*) FROM orders WHERE attributed_version = version) AS attributed`,
    );
    return rows[0];
  };
  await until('all orders and leads are attributed', open, (seen) => {
    const { open: waiting, attributed } = seen as { open: number; attributed: number };
    return waiting === 0 && attributed === reports;
  });
}

const readable = async () =>
  [...(await readReplicaMarks(rig.stores.pool, ['main', 'second'])).of.keys()].sort();

/** Waits until both may be read and have everything, and returns the number of rows of each table. */
async function equalRows(): Promise<Record<string, number>> {
  const { pool } = rig.stores;
  await until('both may be read', readable, (names) => names.length === 2);
  const behind = async () => (await pool.query('SELECT FROM replica_lanes')).rowCount;
  await until('both are in step', behind, (rows) => rows === 0);
  const rows: Record<string, number> = {};
  for (const table of TABLES) {
    // `written` says when the replica got the share.
    const all =
      table === 'attributed_shares' ? '(SELECT * EXCEPT written FROM attributed_shares FINAL)' : table;
    const counted = table === 'clicks' || table === 'attributed_shares' ? all : `${table} FINAL`;
    const stored = await main.hash(counted);
    expect([table, await second.hash(counted)]).toEqual([table, stored]);
    rows[table] = stored.rows;
  }
  return rows;
}

describe('rows that do not come from the lanes, in two replicas', () => {
  it.for(['main', 'second'] as const)('are equal again after a kill -9 of %s', async (name) => {
    const server = name === 'main' ? main : second;
    work();
    await report();
    await equalRows();
    await server.kill();
    await report();
    expect(await readable()).toEqual([name === 'main' ? 'second' : 'main']);
    await report();
    await server.start();
    const [orders, leads] = [reports, reports];
    expect(await equalRows()).toMatchObject({
      ...{ clicks: reports, identifies: reports, orders, attributed_shares: orders + leads },
    });
  });

  it('of dead letters are stored once, also in a replica that was away during the replay', async () => {
    const { pool } = rig.stores;
    const sealer = createAddressSealer(rig.addressKey);
    const broken = {
      enrichClick() {
        throw new Error('no such parser');
      },
    };
    const workers = work(replicas(), { enricher: broken });
    await report();
    await workers.stop();
    expect((await equalRows()).clicks).toBe(0);
    await second.kill();
    const replayed = await replayDeadLetters({
      pool,
      replicas: replicas(),
      decode: (batch) => decodeEvents(batch, sealer),
      enricher: createEnricher({ geo: emptyGeo() }),
      metrics: createWorkerMetrics(new Registry()),
      log: silentLogger(),
    });
    expect(replayed).toEqual({ replayed: reports, left: 0 });
    expect(await readable()).toEqual(['main']);
    await second.start();
    work();
    expect((await equalRows()).clicks).toBe(reports);
  });

  it('of imports, and their removal, reach a replica that was away', async () => {
    const { pool } = rig.stores;
    const { workspace: workspaceId } = rig;
    const clickhouses = { replicas: replicas(), log: silentLogger() };
    await makeLink(pool, workspaceId, 'https://shop.example/', { slug: 'spring' });
    const workspace = await workspaceById(pool, workspaceId);
    if (!workspace) throw new Error('the workspace is not there');
    /** Imports a click of each day from a day of 2025 on, and returns the import's id. */
    async function imported(from: number, days: number): Promise<string> {
      const rows = Array.from({ length: days }, (_, n) => {
        const day = new Date(Date.UTC(2025, 0, from + n)).toISOString();
        return `${day},spring,visitor-${n % 7}\n`;
      });
      const { created, import_id: id } = await importClicks({
        ...{
          pool,
          clickhouses,
          workspace: workspace as Workspace,
          shortUrl: 'https://hop.example',
          source: 'csv',
        },
        text: Readable.from(['ts,slug,visitor\n', ...rows]),
        form: { kind: 'csv', delimiter: ',', firstLine: 1 },
      });
      expect(created).toBe(days);
      return id ?? '';
    }
    const undo = (importId: string) =>
      undoImport({ pool, clickhouses }, { workspaceId, importId }, async () => undefined);
    const undoneAway = await imported(1, 40);
    expect(await equalRows()).toMatchObject({ clicks: 40 });
    await second.kill();
    await imported(41, 50);
    const neverThere = await imported(91, 10);
    expect(await undo(undoneAway)).toMatchObject({ clicks: 40, complete: true });
    expect(await undo(neverThere)).toMatchObject({ clicks: 10, complete: true });
    expect(await readable()).toEqual(['main']);
    await second.start();
    work();
    expect(await equalRows()).toMatchObject({ clicks: 50 });
    const { rows } = await pool.query('SELECT FROM replica_repairs');
    expect(rows).toEqual([]);
  });
});

describe('erasures in two replicas', () => {
  it('are not done while one is away, and reach it before it is read', async () => {
    const { pool } = rig.stores;
    const { workspace: workspaceId } = rig;
    const workers = work();
    await report();
    await equalRows();
    await workers.stop();
    const [visitorId = '', ...others] = buyers;
    await second.kill();
    const given = { pool, replicas: replicas(), log: silentLogger() };
    expect(await eraseVisitor(given, { workspaceId, visitorId })).toEqual({ deleted: 3 });
    expect(await readable()).toEqual(['main']);

    const metrics = createWorkerMetrics(new Registry());
    const left = async ({ clickhouse }: OwnClickHouse) => {
      const result = await clickhouse.query({
        query: `SELECT (SELECT count() FROM clicks WHERE visitor_id = {visitor:UUID})
          + (SELECT count() FROM identifies WHERE visitor_id = {visitor:UUID})
          + (SELECT count() FROM orders WHERE visitor_id = {visitor:UUID}) AS rows`,
        query_params: { visitor: visitorId },
        clickhouse_settings: { apply_deleted_mask: 0 },
        format: 'JSONEachRow',
      });
      return Number((await result.json<{ rows: string }>())[0]?.rows);
    };
    await until(
      'main has no row of the visitor',
      async () => {
        await eraseRequested({ ...given, metrics });
        return left(main);
      },
      (rows) => rows === 0,
    );
    await eraseRequested({ ...given, metrics });
    const isDone = async () =>
      (await pool.query('SELECT FROM erasures WHERE done_at IS NULL')).rowCount === 0;
    expect(await isDone()).toBe(false);

    await second.start();
    expect(await left(second)).toBeGreaterThan(0);
    work();
    expect(await equalRows()).toMatchObject({ clicks: others.length, identifies: others.length });
    stream.append([heartbeat(Date.now() * 1_000)]);
    await until('the erasure is done', isDone, (done) => done);
    expect(await left(second)).toBe(0);
    await equalRows();
  });

  it('hide a deleted link in one that was away before it is read', async () => {
    const { pool } = rig.stores;
    const { workspace: workspaceId } = rig;
    const given = { pool, replicas: replicas(), log: silentLogger() };
    const metrics = createWorkerMetrics(new Registry());
    const targetId = uuidv7();
    await second.kill();
    await requestErasure(pool, { workspaceId, kind: 'link', targetId });
    await eraseRequested({ ...given, metrics });
    expect(await readable()).toEqual(['main']);
    await second.start();
    await until(
      'both may be read',
      async () => {
        await createRepair(given)();
        return readable();
      },
      (names) => names.length === 2,
    );
    expect(await second.hash('deleted_links FINAL')).toEqual(await main.hash('deleted_links FINAL'));
    expect((await second.hash('deleted_links FINAL')).rows).toBe(1);
  });
});
