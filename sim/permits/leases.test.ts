import { expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { registerStream, retireStream } from '../../sql/event-log/streams.ts';
import * as real from '../../sql/links/leases.ts';
import { storesTest as it } from '../../test/support/fixtures.ts';
import { makeLink, makeWorkspace } from '../../test/support/ingest.ts';
import { until } from '../../test/support/until.ts';
import { Network } from '../world/network.ts';
import { Random } from '../world/random.ts';
import { World } from '../world/world.ts';
import { LeaseTable } from './lease-table.ts';
import * as inMemory from './leases.ts';

/** Returns tables in memory with a client process, in a world of its own. */
function startTables() {
  const world = new World(1);
  const table = new LeaseTable(world);
  const pool = { network: new Network(world, table.process), table };
  const process = world.start('ingest');
  const call = <T>(work: () => Promise<T>) => world.call(process, work);
  const addUsed = (uses: Parameters<typeof inMemory.addUsedPermits>[1]) =>
    call(() =>
      pool.network.ask(() =>
        table.transaction((transaction) => inMemory.addUsedPermits({ table, transaction }, uses)),
      ),
    );
  return { world, table, pool, call, addUsed };
}

it('leases in memory answer 600 random calls as those in PostgreSQL do', async ({ stores }) => {
  const { pool } = stores;
  const memory = startTables();
  const { table } = memory;
  const random = new Random(20_261_129);
  const workspace = await makeWorkspace(pool);
  const links: string[] = [];
  for (const max_clicks of [1, 40, 3_000, null]) {
    const { id } = await makeLink(pool, workspace.id, 'https://example.com/', {
      ...(max_clicks !== null && { max_clicks }),
    });
    links.push(id);
    table.links.set(id, { maxClicks: max_clicks, isDeleted: false });
  }
  const streams: string[] = [];
  for (let index = 0; index < 4; index++) {
    const { streamId } = await registerStream(pool, `contract-${index}`);
    streams.push(streamId);
    table.streams.set(streamId, { isActive: true, highWater: -1n });
  }
  let highWater = 0;
  const kinds = new Set<string>();
  const same = async <T>(what: string, inPostgres: Promise<T>, inTables: () => Promise<T>): Promise<T> => {
    const expected = await inPostgres;
    expect(await memory.call(inTables), what).toEqual(expected);
    return expected;
  };

  for (let round = 0; round < 600; round++) {
    const given = { linkId: random.pick([...links, uuidv7()]), streamId: random.pick(streams) };
    const what = `call ${round}`;
    if (round === 500) {
      await retireStream(pool, streams[0] ?? '');
      table.streams.set(streams[0] ?? '', { isActive: false, highWater: BigInt(highWater) });
      streams.shift();
      continue;
    }
    switch (random.integer(0, 7)) {
      case 0:
      case 1:
      case 2: {
        const asked = { ...given, needed: random.pick([0, 1, 5, 300]) };
        const { kind } = await same(what, real.leasePermits(pool, asked), () =>
          inMemory.leasePermits(memory.pool, asked),
        );
        kinds.add(kind);
        break;
      }
      case 3:
      case 4: {
        const { granted, used, generation } = await same(what, real.claimLease(pool, given), () =>
          inMemory.claimLease(memory.pool, given),
        );
        if (random.chance(0.3)) break;
        const back = {
          ...given,
          count: random.integer(0, Math.max(0, granted - used)),
          generation: generation - (random.chance(0.2) ? 1 : 0),
        };
        await same(what, real.returnPermits(pool, back), () => inMemory.returnPermits(memory.pool, back));
        break;
      }
      case 5: {
        const uses = links.map((linkId) => ({
          linkId,
          streamId: given.streamId,
          clicks: random.integer(1, 3),
        }));
        highWater += 1;
        await inTransaction(pool, async (tx) => {
          await real.addUsedPermits(tx, uses);
          await tx.query('UPDATE ingest_streams SET high_water = $2 WHERE stream_id = $1', [
            given.streamId,
            highWater,
          ]);
        });
        await memory.addUsed(uses);
        table.streams.set(given.streamId, { isActive: true, highWater: BigInt(highWater) });
        break;
      }
      case 6: {
        const sorted = ({ highWater: mark, leases }: real.StreamLeases) => ({
          mark,
          leases: leases.toSorted((a, b) => a.link_id.localeCompare(b.link_id)),
        });
        await same(what, real.leasesOfStream(pool, given.streamId).then(sorted), async () =>
          sorted(await inMemory.leasesOfStream(memory.pool, given.streamId)),
        );
        break;
      }
      default: {
        const linkId = random.pick(links);
        const isDeleted = random.chance(0.3);
        const maxClicks = random.chance(0.2) ? null : random.integer(1, 4_000);
        await pool.query(
          'UPDATE links SET max_clicks = $2, deleted_at = CASE WHEN $3 THEN now() END WHERE id = $1',
          [linkId, maxClicks, isDeleted],
        );
        table.links.set(linkId, { maxClicks, isDeleted });
      }
    }
  }
  expect([...kinds].sort()).toEqual(['gone', 'granted', 'none_left', 'unlimited']);
});

it('a claim waits for a change of its lease that is under way, in memory as in PostgreSQL', async ({
  stores,
}) => {
  const { pool } = stores;
  const { id: linkId } = await makeLink(pool, (await makeWorkspace(pool)).id, 'https://example.com/', {
    max_clicks: 60,
  });
  const { streamId } = await registerStream(pool, 'contract-waits');
  await real.leasePermits(pool, { linkId, streamId, needed: 4 });
  const changing = await pool.connect();
  await changing.query('BEGIN');
  await changing.query('UPDATE link_leases SET granted = granted + 6 WHERE link_id = $1', [linkId]);
  const claim = real.claimLease(pool, { linkId, streamId });
  const waits = async () => {
    const { rows } = await stores.admin.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE link_leases SET generation%'",
    );
    return rows.length > 0;
  };
  await until('a claim that waits for a lock', waits);
  await changing.query('COMMIT');
  changing.release();
  expect(await claim).toMatchObject({ granted: 10, generation: 1 });

  const memory = startTables();
  const { table, world } = memory;
  table.links.set(linkId, { maxClicks: 60, isDeleted: false });
  table.streams.set(streamId, { isActive: true, highWater: -1n });
  await memory.call(() => inMemory.leasePermits(memory.pool, { linkId, streamId, needed: 4 }));
  let commit = () => {};
  let claimed: real.Lease | null = null;
  const asked = world.start('another');
  world.schedule(
    0,
    () => {
      void table.transaction(async (transaction) => {
        await transaction.lockLease(linkId, streamId);
        const lease = table.leaseOf(linkId, streamId);
        if (lease) transaction.write(() => table.setLease({ ...lease, granted: lease.granted + 6 }));
        await new Promise<void>((resolve) => {
          commit = resolve;
        });
      });
    },
    table.process,
  );
  await world.run(1);
  world.schedule(
    0,
    () => {
      void inMemory.claimLease(memory.pool, { linkId, streamId }).then((lease) => {
        claimed = lease;
      });
    },
    asked,
  );
  await world.run(60_000);
  expect(claimed).toBe(null);
  commit();
  await world.run(1_000);
  expect(claimed).toMatchObject({ granted: 10, generation: 1 });
});
