import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { click } from '../test-support/events.ts';
import type { LaneState } from './lane.ts';

const SCRIPT = fileURLToPath(new URL('../test-support/killed-worker.ts', import.meta.url));
const MIDNIGHT = Date.UTC(2026, 10, 1) * 1000;

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
  await rig.stores.createTables();
});
afterAll(() => rig.close());

/** Runs a worker process until it has killed itself. */
async function runKilled(state: LaneState, delayMs: number): Promise<void> {
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = rig.stores;
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      SCRIPT,
      databaseUrl,
      clickhouseUrl,
      clickhouseDatabase,
      rig.dataDir,
      rig.addressKey.toString('hex'),
      state,
      String(delayMs),
    ],
    { stdio: 'inherit' },
  );
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

describe('a worker killed with SIGKILL', () => {
  it('at every state, and in the middle of inserts, leaves every event to its successors exactly once', async () => {
    const stream = await rig.stream('ingest-0');
    const { workspace } = rig;
    const link = uuidv7();
    let events = 0;
    const append = () => {
      for (let batch = 0; batch < 20; batch++) {
        const from = MIDNIGHT - 1_000_000 + events * 10;
        stream.append(
          Array.from({ length: 500 }, (_, i) => click({ workspace, link, visitor: uuidv7(), ts: from + i })),
        );
        events += 500;
      }
    };
    const deaths: [LaneState, number][] = [
      ['prepared', 0],
      ['intended', 6],
      ['block_inserted', 0],
      ['inserted', 0],
      ['advanced', 0],
    ];
    // At other moments of an insert, and between it and the next state.
    if (NIGHTLY) deaths.push(['intended', 0], ['intended', 2], ['intended', 12], ['inserted', 2]);
    for (const [state, delayMs] of deaths) {
      append();
      await runKilled(state, delayMs);
    }
    append();
    rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: events, distinct: events });
  });
});
