import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, vi } from 'vitest';
import { openJournal } from '../../core/event-log/journal/open-journal.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { registerStream, retireStream, watermark } from '../../sql/event-log/streams.ts';
import { until } from '../../test/support/until.ts';
import { type Rig, rigTest } from '../../test/support/worker-rig.ts';
import { click, heartbeat } from '../test-support/events.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

function clickAt(rig: Rig, ts: number) {
  return click({ workspace: rig.workspace, link: uuidv7(), visitor: uuidv7(), ts });
}

async function reaches(rig: Rig, expected: number): Promise<void> {
  await expect.poll(() => watermark(rig.stores.pool)).toBe(expected);
}

describe('the watermark', () => {
  rigTest('follows the heartbeats of an idle stream', async ({ rig }) => {
    const busy = await rig.stream('ingest-0');
    const idle = await rig.stream('api-0');
    rig.work();
    busy.append([clickAt(rig, NOW), clickAt(rig, NOW + 900)]);
    idle.append([heartbeat(NOW + 100)]);
    await reaches(rig, NOW + 101);
    idle.append([heartbeat(NOW + 800)]);
    await reaches(rig, NOW + 801);
    idle.append([heartbeat(NOW + 2_000)]);
    await reaches(rig, NOW + 901);
  });

  rigTest('is held by a dead stream until the operator retires it', async ({ rig }) => {
    const alive = await rig.stream('ingest-0');
    const dead = await rig.stream('ingest-1');
    rig.work();
    dead.append([clickAt(rig, NOW)]);
    alive.append([heartbeat(NOW + 5_000)]);
    await reaches(rig, NOW + 1);
    alive.append([heartbeat(NOW + 9_000)]);
    await rig.settled(alive);
    expect(await watermark(rig.stores.pool)).toBe(NOW + 1);
    expect(await retireStream(rig.stores.pool, dead.streamId)).toBe(true);
    expect(await watermark(rig.stores.pool)).toBe(NOW + 9_001);
    dead.append([clickAt(rig, NOW + 10)]); // its disk came back after all
    await rig.settled(dead);
    expect(await rig.stored()).toEqual({ rows: 2, distinct: 2 });
  });

  rigTest('is not behind the first click of a new stream whose clock is', async ({ rig }) => {
    const known = await rig.stream('ingest-0');
    rig.work();
    known.append([heartbeat(NOW)]);
    await reaches(rig, NOW + 1);
    const { pool } = rig.stores;
    const late = await openJournal({
      dataDir: rig.dataDir,
      streamName: 'ingest-1',
      register: () => registerStream(pool, 'ingest-1'),
      syncMs: 5,
      budgetBytes: 64 * 2 ** 20,
      sealer: createAddressSealer(rig.addressKey),
      log: silentLogger(),
      registry: new Registry(),
      clock: { now: () => NOW - 3_600_000_000 },
    });
    const { ts: _, ...event } = clickAt(rig, 0);
    const { ts } = late.append(event, () => undefined);
    expect(ts).toBeGreaterThan(NOW);
    await late.close();
  });

  rigTest('is only late when clocks differ by five seconds, and misses nothing', async ({ rig }) => {
    const [exact, behind] = [await rig.stream('ingest-0'), await rig.stream('ingest-1')];
    rig.work();
    let seen = 0;
    for (let step = 0; step < 20; step++) {
      const now = NOW + step * 250_000;
      exact.append([clickAt(rig, now), heartbeat(now + 1)]);
      behind.append([clickAt(rig, now - 5_000_000), heartbeat(now - 5_000_000 + 1)]);
      await reaches(rig, now - 5_000_000 + 2);
      const mark = (await watermark(rig.stores.pool)) ?? 0;
      expect(mark).toBe(now - 5_000_000 + 2);
      const { rows } = await rig.ask<{ rows: string }>(
        `SELECT count() AS rows FROM clicks WHERE ts < fromUnixTimestamp64Micro(${mark}, 'UTC')`,
      );
      // The rows are all of the stream that is behind, and those of the other one that are older than five seconds.
      expect(Number(rows)).toBeGreaterThan(seen);
      seen = Number(rows);
    }
  });

  rigTest(
    'of an idle stream is stored rarely while it is quiet, and soon after another stream has a click',
    async ({ rig }) => {
      let isQuiet = true;
      const quiet = {
        isQuiet: () => isQuiet,
        end: () => {
          isQuiet = false;
        },
        untilStoreMs: () => 3_600_000,
      };
      const busy = await rig.stream('ingest-0');
      const idle = await rig.stream('api-0');
      const read = vi.spyOn(rig.reader, 'read');
      rig.work({ quiet });
      // A lane that stored progress would have stored the first heartbeat before it reads past the second.
      for (const ts of [NOW + 100, NOW + 200]) {
        for (const [partition, stream] of Object.entries({ 'ingest-0': busy, 'api-0': idle })) {
          stream.append([heartbeat(ts)]);
          const isPast = () => read.mock.calls.some(([of, from]) => of === partition && from >= stream.end());
          await until(`${partition} read to its end`, isPast);
        }
      }
      expect(await watermark(rig.stores.pool)).toBe(0);
      busy.append([clickAt(rig, NOW + 500)]);
      await rig.settled(busy);
      idle.append([heartbeat(NOW + 600)]);
      await reaches(rig, NOW + 501);
      expect(await rig.stored()).toEqual({ rows: 1, distinct: 1 });
    },
  );

  rigTest.for([
    ['', undefined],
    [', also while it is quiet', { isQuiet: () => true, end: () => undefined, untilStoreMs: () => 300 }],
  ] as const)('never passes a click that is not visible%s', async ([_, quiet], { rig }) => {
    const streams = [await rig.stream('ingest-0'), await rig.stream('ingest-1')];
    rig.work(quiet && { quiet });
    const times: number[] = [];
    let loading = true;
    const load = (async () => {
      for (let step = 0; loading; step++) {
        for (const [index, stream] of streams.entries()) {
          const ts = NOW + step * 1_000 + index * 137;
          // The second stream lags behind, and sends in bursts.
          if (index === 1 && step % 7 !== 0) continue;
          times.push(ts);
          stream.append([clickAt(rig, ts)]);
        }
        await sleep(2);
      }
    })();
    for (let poll = 0; poll < 40; poll++) {
      const before = (await watermark(rig.stores.pool)) ?? 0;
      const expected = times.filter((ts) => ts < before).length;
      const { rows } = await rig.ask<{ rows: string }>(
        `SELECT count() AS rows FROM clicks WHERE ts < fromUnixTimestamp64Micro(${before}, 'UTC')`,
      );
      expect(Number(rows)).toBe(expected);
      await sleep(25);
    }
    loading = false;
    await load;
  });
});
