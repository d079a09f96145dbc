import { rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ownBatches } from '../../core/event-log/journal/own-batches.ts';
import type { JournalWriter } from '../../core/event-log/journal/writer.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { type Logger, silentLogger } from '../../core/tier/log.ts';
import { createWallClock } from '../../core/time/wall-clock.ts';
import { appendClicks, openTestJournal, TEST_STREAM_NAME, testSealer } from './journal.ts';

/**
 * Two runs of the test stream on a disk of its own, for a test of a correction that is still due: `node
 * journal-clock.ts DATA_DIR killed JUMP_SECONDS`, then `node journal-clock.ts DATA_DIR restarted`.
 *
 * The first run follows a jump of the wall clock, or starts with a clock that is ahead when JUMP_SECONDS is negative.
 * It fills the disk, sees the wall clock return, and kills itself. The second run, two days later, has free space
 * again, waits for the correction, and prints the log's events as JSON.
 */
const [dataDir = '', life = '', jumpSeconds = '0'] = process.argv.slice(2);
const SECOND = 1_000_000;
const NOW = 1_800_000_000 * SECOND;
const FILLER = join(dataDir, 'filler');
const said: string[] = [];

function recordingLogger(): Logger {
  const log = silentLogger();
  const record = (_: unknown, message: string) => said.push(message);
  return Object.assign(Object.create(log), { info: record, warn: record, error: record, child: () => log });
}

async function hears(words: string): Promise<void> {
  while (!said.some((message) => message.includes(words))) await delay(10);
}

/** Writes heartbeats, the smallest events, until the disk is full. A correction does not fit then. */
async function fillDisk(writer: JournalWriter): Promise<void> {
  for (let size = 1 << 16; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(FILLER, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // A smaller piece may still fit.
    }
  }
  const beat = () =>
    new Promise((resolve) => {
      writer.append({ kind: 'heartbeat' }, resolve);
      writer.flush();
    });
  while ((await beat()) === 'written');
}

function openWith(at: { wall: number; steady: number }): Promise<JournalWriter> {
  const clock = createWallClock({ wall: () => at.wall, steady: () => at.steady, sinceBoot: () => at.steady });
  return openTestJournal(dataDir, { clock, log: recordingLogger(), budgetBytes: 1 << 30 });
}

async function beKilled(jump: number): Promise<void> {
  const bootedAhead = jump < 0;
  const ahead = Math.abs(jump) * SECOND;
  const at = { wall: bootedAhead ? NOW + ahead : NOW, steady: 0 };
  const pass = (micros: number) => {
    at.wall += micros;
    at.steady += micros;
  };
  const writer = await openWith(at);
  if (!bootedAhead) {
    await appendClicks(writer, ['right']);
    at.wall += ahead;
    await hears('jumped ahead');
    pass(61 * SECOND);
    await hears('stayed ahead');
  }
  await appendClicks(writer, ['ahead 1']);
  pass(30 * SECOND);
  await appendClicks(writer, ['ahead 2']);
  await fillDisk(writer);
  at.wall -= ahead;
  await hears('workers correct the events');
  process.kill(process.pid, 'SIGKILL');
}

async function restart(): Promise<void> {
  rmSync(FILLER);
  const at = { wall: NOW + 48 * 3600 * SECOND, steady: 0 };
  const writer = await openWith(at);
  await appendClicks(writer, ['after the start']);
  let events: object[] = [];
  for (let tries = 0; tries < 300 && !events.some((event) => 'shift' in event); tries++) {
    await delay(10);
    events = [];
    for await (const batch of ownBatches(dataDir, TEST_STREAM_NAME, -1n)) {
      for (const { sequence, event } of decodeEvents(batch, testSealer).events) {
        if (event.kind === 'click')
          events.push({ sequence: String(sequence), ts: event.ts, name: event.userAgent });
        if (event.kind === 'clock') events.push({ ...event, sequence: String(sequence) });
      }
    }
  }
  writeSync(1, JSON.stringify({ now: NOW, said, events }));
  await writer.close();
}

await (life === 'killed' ? beKilled(Number(jumpSeconds)) : restart());
