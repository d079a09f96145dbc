import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type JournalOptions, openJournal } from '../../core/event-log/journal/open-journal.ts';
import { JournalReader } from '../../core/event-log/journal/reader.ts';
import type { JournalWriter } from '../../core/event-log/journal/writer.ts';
import type { AppendOutcome, EventLogWriter, LogBatch, LogDamage } from '../../core/event-log/port.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { NO_LABELS } from '../../core/events/click-labels.ts';
import { decodeEvents, type UndecodableEvent } from '../../core/events/codec.ts';
import type { ClickEvent, Unstamped } from '../../core/events/types.ts';
import { silentLogger } from '../../core/tier/log.ts';

/** A stream for tests of the journal alone, without PostgreSQL. */
export const TEST_STREAM = { streamId: '01900000-0000-7000-8000-0000000000aa', ordinal: 7 };
export const TEST_STREAM_NAME = 'ingest-0';
export const testSealer = createAddressSealer(Buffer.alloc(32, 5));

/** Returns a new data directory and the function that removes it. */
export function temporaryDataDir(): { dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-journal-'));
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) };
}

/** Opens the test stream's journal: by default synced after 5 ms and with segments of 64 KiB. */
export function openTestJournal(
  dataDir: string,
  options: Partial<JournalOptions> = {},
): Promise<JournalWriter> {
  return openJournal({
    dataDir,
    streamName: TEST_STREAM_NAME,
    register: async () => TEST_STREAM,
    syncMs: 5,
    budgetBytes: 8 * 64 * 1024,
    sealer: testSealer,
    log: silentLogger(),
    registry: new Registry(),
    ...options,
  });
}

/** Returns a click whose user agent distinguishes it. */
export function testClick(userAgent: string, overrides: Partial<ClickEvent> = {}): Unstamped<ClickEvent> {
  return {
    kind: 'click',
    workspaceId: Buffer.alloc(16, 1),
    linkId: Buffer.alloc(16, 2),
    visitorId: Buffer.alloc(16, 3),
    labels: NO_LABELS,
    language: '',
    channel: 'newsletter',
    referer: 'https://example.com/from',
    userAgent,
    address: Buffer.alloc(16, 4),
    flags: 0,
    ad: null,
    ...overrides,
  };
}

export type Settlement = { sequence: bigint; ts: number; outcome: AppendOutcome };

/** Appends one click for each user agent at the same time and resolves when all have settled. */
export function appendClicks(writer: EventLogWriter, userAgents: string[]): Promise<Settlement[]> {
  return Promise.all(
    userAgents.map(
      (userAgent) =>
        new Promise<Settlement>((resolve) => {
          const appended = writer.append(testClick(userAgent), (outcome) =>
            resolve({ ...appended, outcome }),
          );
        }),
    ),
  );
}

/** Returns all events of a partition, in order. */
export type Contents = {
  batches: LogBatch[];
  damage: LogDamage[];
  clicks: { sequence: bigint; ts: number; userAgent: string; event: ClickEvent }[];
  /** Includes heartbeats. */
  sequences: bigint[];
  times: number[];
  undecodable: UndecodableEvent[];
  nextOffset: bigint;
};

/** Reads the test stream from `offset` to its end. */
export async function readJournal(dataDir: string, offset = 0n): Promise<Contents> {
  const reader = new JournalReader(dataDir);
  const contents: Contents = {
    batches: [],
    damage: [],
    clicks: [],
    sequences: [],
    times: [],
    undecodable: [],
    nextOffset: offset,
  };
  for (;;) {
    const read = await reader.read(TEST_STREAM_NAME, contents.nextOffset, { maxBytes: 1 << 20, waitMs: 0 });
    if (read.batches.length === 0 && read.damage.length === 0) break;
    contents.nextOffset = read.nextOffset;
    contents.damage.push(...read.damage);
    for (const batch of read.batches) addBatch(contents, batch);
  }
  await reader.close();
  return contents;
}

function addBatch(contents: Contents, batch: LogBatch): void {
  contents.batches.push(batch);
  const { events, undecodable } = decodeEvents(batch, testSealer);
  contents.undecodable.push(...undecodable);
  for (const { sequence, event } of events) {
    contents.sequences.push(sequence);
    contents.times.push(event.ts);
    if (event.kind !== 'click') continue;
    contents.clicks.push({ sequence, ts: event.ts, userAgent: event.userAgent, event });
  }
}
