import { cpSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { openEventLogWriter, ownBatches } from '../../core/event-log/open.ts';
import type { NewStream } from '../../core/event-log/port.ts';
import { storedUpTo } from '../../core/event-log/port.ts';
import type { AddressSealer } from '../../core/events/address-seal.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { clicksFrom } from './clicks.ts';

/** Clicks per write, as in a busy ingest process. */
const CLICKS_A_BATCH = 64;
/** Number of visitors, used in rotation with new ids. */
const DIFFERENT = 200_000;

export type FilledJournal = {
  dataDir: string;
  streamName: string;
  clicks: number;
  /** Including heartbeats. */
  events: number;
  lastSequence: bigint;
  /** Bytes of the encoded clicks, without frames. */
  bytesPerClick: number;
};

/** Writes a journal of realistic clicks with the real writer and closes it. */
export async function fillJournal(given: {
  dataDir: string;
  clicks: number;
  sealer: AddressSealer;
  register: () => Promise<NewStream>;
}): Promise<FilledJournal> {
  const { dataDir, clicks, sealer, register } = given;
  const streamName = 'ingest-0';
  const writer = await openEventLogWriter(
    {
      dataDir,
      journalSyncMs: 1_000,
      journalBudgetBytes: 64 * 2 ** 30,
      kafkaBrokers: [],
      kafka: readConfig({}).kafka,
    },
    {
      streamName,
      register,
      needs: async () => storedUpTo(-1n),
      giveUp: async () => {},
      sealer,
      log: silentLogger(),
      registry: new Registry(),
    },
  );
  const visitors = clicksFrom(7, Math.min(DIFFERENT, clicks));
  let lost = 0;
  const settled = (outcome: string) => {
    if (outcome === 'lost') lost += 1;
  };
  for (let made = 0; made < clicks; made++) {
    const click = visitors[made % visitors.length] as (typeof visitors)[number];
    writer.append({ ...click, visitorId: uuidToBytes(uuidv7()) }, settled);
    if (made % CLICKS_A_BATCH === CLICKS_A_BATCH - 1) await turnEnd();
  }
  await turnEnd();
  await writer.close();
  if (lost > 0) throw new Error(`${lost} clicks did not fit into the journal`);
  let [events, bytes, lastSequence] = [0, 0, -1n];
  for await (const batch of ownBatches(dataDir, streamName, -1n)) {
    events += batch.count;
    bytes += batch.payload.length;
    lastSequence = batch.firstSequence + BigInt(batch.count) - 1n;
  }
  return { dataDir, streamName, clicks, events, lastSequence, bytesPerClick: bytes / clicks };
}

/** Creates a copy of a journal that can be truncated. Its segments are hard links. */
export function copyJournal({ dataDir, streamName }: FilledJournal, to: string): void {
  const from = join(dataDir, 'journal', streamName);
  const directory = join(to, 'journal', streamName);
  mkdirSync(directory, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(directory, entry.name)];
    if (entry.name.endsWith('.seg')) linkSync(source, target);
    else cpSync(source, target, { recursive: true });
  }
}
