import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  appendClicks,
  openTestJournal,
  readJournal,
  TEST_STREAM_NAME,
  temporaryDataDir,
  testSealer,
} from '../../../test/support/journal.ts';
import { NIGHTLY } from '../../../test/support/nightly.ts';
import { decodeEvents } from '../../events/codec.ts';
import { JournalReader } from './reader.ts';
import { streamDirectory } from './segments.ts';

const appender = fileURLToPath(new URL('../../../test/support/journal-appender.ts', import.meta.url));
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning'];
const MEBIBYTE = 1 << 20;
const KILLS = NIGHTLY ? 6 : 3;

let dataDir: string;
let remove: () => void;
let children: ChildProcess[] = [];
beforeEach(() => {
  ({ dataDir, remove } = temporaryDataDir());
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  remove();
});

type Appender = {
  child: ChildProcess;
  written: Map<string, bigint>;
  lost: Set<string>;
  ended: Promise<number | null>;
};

async function startAppender(command: string[], args: (string | number)[]): Promise<Appender> {
  const [program = '', ...before] = command;
  const child = spawn(program, [...before, appender, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const written = new Map<string, bigint>();
  const lost = new Set<string>();
  const lines = createInterface({ input: child.stdout });
  const ended = new Promise<number | null>((resolve) => {
    let exitCode: number | null = null;
    child.on('exit', (code) => {
      exitCode = code;
    });
    lines.on('close', () => child.on('close', () => resolve(exitCode)));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error('the appender ended before it opened its journal')));
    lines.on('line', (line) => {
      const [outcome, sequence = '', userAgent] = line.split(' ');
      if (outcome === 'opened') resolve();
      else if (userAgent === undefined)
        return; // a line cut by the kill
      else if (outcome === 'written') written.set(userAgent, BigInt(sequence));
      else lost.add(userAgent);
    });
  });
  return { child, written, lost, ended };
}

function gaps(sequences: bigint[]): bigint[] {
  return sequences.filter((sequence, index) => {
    const before = sequences[index - 1];
    return before !== undefined && before >> 40n === sequence >> 40n && sequence !== before + 1n;
  });
}

/**
 * Returns the first difference of two lists; null when they are equal. A failure shows it instead of thousands of
 * lines.
 */
function firstDifference(a: string[], b: string[]): object | null {
  const index = a.findIndex((value, at) => value !== b[at]);
  if (index < 0 && a.length === b.length) return null;
  return { index, a: a[index], b: b[index], lengths: [a.length, b.length] };
}

const PATIENT = { interval: 5 };

/** Returns the state of a process by Linux: `T` while it is stopped. */
function stateOf(pid: number | undefined): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0];
}

describe('kill -9 of the writing process', () => {
  test(`loses no settled event, duplicates none, and raises the epoch, times ${KILLS}`, async () => {
    const answered = new Map<string, bigint>();
    for (let round = 0; round < KILLS; round++) {
      const syncMs = round % 3 === 0 ? 0 : 5;
      const process = await startAppender(NODE, [dataDir, `round${round}`, syncMs, 8 * MEBIBYTE, 1e9]);
      const enough = 50 + Math.floor(Math.random() * 2000);
      await expect.poll(() => process.written.size, PATIENT).toBeGreaterThanOrEqual(enough);
      process.child.kill('SIGKILL');
      await process.ended;
      expect(process.lost.size).toBe(0);
      for (const [userAgent, sequence] of process.written) answered.set(userAgent, sequence);
    }
    const writer = await openTestJournal(dataDir);
    await writer.close();
    const { clicks, sequences, damage, undecodable } = await readJournal(dataDir);
    expect(damage).toEqual([]);
    expect(undecodable).toEqual([]);
    const there = new Map(clicks.map(({ userAgent, sequence }) => [userAgent, sequence]));
    expect(there.size).toBe(clicks.length);
    const missing = [...answered].filter(([userAgent, sequence]) => there.get(userAgent) !== sequence);
    expect(missing).toEqual([]);
    expect(gaps(sequences)).toEqual([]);
    expect(sequences.every((sequence, index) => index === 0 || sequence > (sequences[index - 1] ?? 0n))).toBe(
      true,
    );
    expect(new Set(clicks.map(({ sequence }) => sequence >> 40n)).size).toBe(KILLS);
  });

  test('releases its stream at once, and a running process keeps its own', async () => {
    const { child, ended } = await startAppender(NODE, [dataDir, 'holder', 5, 8 * MEBIBYTE, 1e9]);
    await expect(openTestJournal(dataDir)).rejects.toThrow(
      `journal ${streamDirectory(dataDir, TEST_STREAM_NAME)} is being written by another process (pid ${child.pid})`,
    );
    child.kill('SIGKILL');
    await ended;
    const writer = await openTestJournal(dataDir);
    await expect(openTestJournal(dataDir)).rejects.toThrow('is being written by another process');
    await writer.close();
    await (await openTestJournal(dataDir)).close();
  });
});

describe('a reader beside a writer in another process', () => {
  test.each([5, 0])('sees every event once and in order as it is written (sync %d ms)', async (syncMs) => {
    const total = 15_000;
    // The reader starts before the writer, reads across many small segments, and truncates what it has read.
    const reader = new JournalReader(dataDir);
    const { written, ended } = await startAppender(NODE, [dataDir, 'live', syncMs, 8 * MEBIBYTE, total]);
    const seen: string[] = [];
    let offset = 0n;
    let last = -1n;
    let over = false;
    ended.then(() => {
      over = true;
    });
    for (;;) {
      const wasOver = over;
      const read = await reader.read(TEST_STREAM_NAME, offset, { maxBytes: 200_000, waitMs: 500 });
      if (wasOver && read.batches.length === 0) break;
      expect(read.damage).toEqual([]);
      for (const batch of read.batches) {
        expect(batch.offset).toBeGreaterThanOrEqual(offset);
        offset = batch.nextOffset;
        for (const { sequence, event } of decodeEvents(batch, testSealer).events) {
          if (last >= 0n) expect(sequence).toBe(last + 1n);
          last = sequence;
          if (event.kind === 'click') seen.push(event.userAgent);
        }
      }
      offset = read.nextOffset;
      await reader.truncate(TEST_STREAM_NAME, offset);
      expect(await reader.end(TEST_STREAM_NAME)).toBeGreaterThanOrEqual(offset);
    }
    expect(await ended).toBe(0);
    expect(written.size).toBeGreaterThan(0);
    expect(firstDifference(seen, [...written.keys()])).toBeNull();
    expect(await reader.start(TEST_STREAM_NAME)).toBeGreaterThan(0n);
    await reader.close();
  });
});

describe('a journal whose disk budget is used up', () => {
  test('loses new events, reports it, and accepts events again when a consumer truncates it', async () => {
    const writer = await openTestJournal(dataDir);
    const reader = new JournalReader(dataDir);
    const kept: string[] = [];
    const lost: string[] = [];
    const appendTurn = async (turn: number) => {
      const settled = await appendClicks(
        writer,
        Array.from({ length: 30 }, (_, index) => `turn ${turn} click ${index}`),
      );
      for (const [index, { outcome }] of settled.entries()) {
        (outcome === 'written' ? kept : lost).push(`turn ${turn} click ${index}`);
      }
      return settled.every(({ outcome }) => outcome === 'written');
    };
    let turn = 0;
    const read: string[] = [];
    const sequences: bigint[] = [];
    let offset = 0n;
    for (let round = 0; round < 3; round++) {
      while (await appendTurn(turn++));
      expect(writer.fill()).toBeGreaterThan(0.8);
      expect(await appendTurn(turn++)).toBe(false);
      const contents = await readJournal(dataDir, offset);
      offset = contents.nextOffset;
      read.push(...contents.clicks.map(({ userAgent }) => userAgent));
      sequences.push(...contents.sequences);
      await reader.truncate(TEST_STREAM_NAME, offset);
      await expect.poll(() => appendTurn(turn++), PATIENT).toBe(true);
      await expect.poll(() => writer.fill(), PATIENT).toBeLessThanOrEqual(0.5);
    }
    await writer.close();
    const rest = await readJournal(dataDir, offset);
    read.push(...rest.clicks.map(({ userAgent }) => userAgent));
    sequences.push(...rest.sequences);
    expect(lost.length).toBeGreaterThan(0);
    expect(firstDifference(read, kept)).toBeNull();
    expect(gaps(sequences)).toEqual([]);
  });
});

describe('a disk that is really full', () => {
  /** Runs its command with a private file system of 6 MiB on the directory. */
  const script = 'mount -t tmpfs -o size=6m tmpfs "$0" && exec "$@"';
  const unshare = ['unshare', process.getuid?.() === 0 ? '-m' : '-Urm', 'sh', '-c', script];
  const [unshareProgram = '', ...unshareArgs] = unshare;

  test('loses only what does not fit, and accepts events again when there is room', async ({ skip }) => {
    const probe = spawnSync(unshareProgram, [...unshareArgs, dataDir, 'true']);
    skip(probe.status !== 0, 'no file system of its own to fill: unshare and mount are not permitted here');
    const process = await startAppender(
      [...unshare, dataDir, ...NODE],
      [dataDir, 'full', 5, 1024 * MEBIBYTE, 1e9],
    );
    const inside = join('/proc', String(process.child.pid), 'root', dataDir);
    await expect.poll(() => process.lost.size, PATIENT).toBeGreaterThan(0);
    const first = await readJournal(inside);
    const reader = new JournalReader(inside);
    await reader.truncate(TEST_STREAM_NAME, first.nextOffset);
    const before = process.written.size;
    await expect.poll(() => process.written.size, PATIENT).toBeGreaterThan(before + 1000);
    process.child.kill('SIGSTOP');
    await expect.poll(() => stateOf(process.child.pid)).toBe('T');
    const second = await readJournal(inside, first.nextOffset);
    process.child.kill('SIGKILL');
    await process.ended;
    const clicks = [...first.clicks, ...second.clicks];
    const there = new Map(clicks.map(({ userAgent, sequence }) => [userAgent, sequence]));
    expect(there.size).toBe(clicks.length);
    const missing = [...process.written].filter(([userAgent, sequence]) => there.get(userAgent) !== sequence);
    expect(missing).toEqual([]);
    expect([...process.lost].filter((userAgent) => there.has(userAgent))).toEqual([]);
    expect(gaps([...first.sequences, ...second.sequences])).toEqual([]);
    expect([...first.damage, ...second.damage]).toEqual([]);
  });
});
