import { cpSync, rmSync } from 'node:fs';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { openJournal } from '../../core/event-log/journal/open-journal.ts';
import { streamDirectory } from '../../core/event-log/journal/segments.ts';
import type { JournalWriter } from '../../core/event-log/journal/writer.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import type { Unstamped } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { registerStream, streamRecord } from '../../sql/event-log/streams.ts';
import { temporaryDataDir } from '../../test/support/journal.ts';
import { until } from '../../test/support/until.ts';
import { createRig, metric, type Rig } from '../../test/support/worker-rig.ts';
import { click } from '../test-support/events.ts';

const NAME = 'ingest-0';
const HOUR = 3_600_000;

let rig: Rig;
let sent: number;
beforeEach(async () => {
  rig = await createRig();
  sent = 0;
});
afterEach(() => rig.close());

/** Starts the stream's writer at a time, writes this many clicks, and ends it. */
async function write(count: number, at: number): Promise<bigint> {
  const writer = await openJournal({
    dataDir: rig.dataDir,
    streamName: NAME,
    register: (streamId) => registerStream(rig.stores.pool, NAME, streamId),
    recorded: (streamId) => streamRecord(rig.stores.pool, streamId, NAME),
    syncMs: 5,
    budgetBytes: 64 * 2 ** 20,
    sealer: createAddressSealer(rig.addressKey),
    clock: { now: () => at * 1000 },
    log: silentLogger(),
    registry: new Registry(),
  });
  const sequences = await Promise.all(Array.from({ length: count }, () => append(writer)));
  await writer.close();
  sent += count;
  return sequences.at(-1) ?? -1n;
}

function append(writer: JournalWriter): Promise<bigint> {
  const { ts: _, ...event } = click({ workspace: rig.workspace, link: uuidv7(), visitor: uuidv7(), ts: 0 });
  return new Promise((resolve) => {
    const { sequence } = writer.append(event as Unstamped, () => resolve(sequence));
  });
}

async function stored(sequence: bigint): Promise<void> {
  const highWater = async () => {
    const { rows } = await rig.stores.pool.query<{ high_water: string }>(
      'SELECT high_water FROM ingest_streams',
    );
    return BigInt(rows[0]?.high_water ?? -1);
  };
  await until(`a high-water mark of ${sequence}`, highWater, (seen) => seen >= sequence);
}

it.each(['stopped', 'at work'])(
  'a journal that is put back from an older copy loses nothing of what comes then, workers %s meanwhile',
  async (workers) => {
    const now = Date.now();
    const directory = streamDirectory(rig.dataDir, NAME);
    const copy = temporaryDataDir();
    onTestFinished(copy.remove);
    await write(40, now - 3 * HOUR);
    cpSync(directory, copy.dataDir, { recursive: true });
    const later = await write(30, now - 2 * HOUR);
    const first = rig.work();
    await stored(later);
    if (workers === 'stopped') await first.stop();
    rmSync(directory, { recursive: true });
    cpSync(copy.dataDir, directory, { recursive: true });
    const newest = await write(50, now);
    const { registry } = workers === 'stopped' ? rig.work() : first;
    await stored(newest);
    expect(await rig.stored()).toEqual({ rows: sent, distinct: sent });
    expect(await metric(registry, 'hoplog_worker_sequence_gaps_total')).toBe(0);
  },
);
