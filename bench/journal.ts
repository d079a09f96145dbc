import { closeSync, fdatasync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Registry } from 'prom-client';
import { openJournal } from '../core/event-log/journal/open-journal.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { createEventEncoder } from '../core/events/codec.ts';
import type { ClickEvent, Unstamped } from '../core/events/types.ts';
import { silentLogger } from '../core/log.ts';

/**
 * How many clicks a second one process puts on disk, on one core: the encoder alone, the journal in both sync
 * modes, and beside them bare writes of the same blocks with `fdatasync`, into a growing file and into one that was
 * filled with zeros before, as the journal's segments are. Visitors append again as soon as they are answered; the
 * appends of one event-loop turn are one block.
 *
 *   node bench/journal.ts [--dir .] [--seconds 2]
 *
 * `--dir` is where the files go: on the disk that is to be measured.
 */
const { values } = parseArgs({
  options: { dir: { type: 'string', default: '.' }, seconds: { type: 'string', default: '2' } },
});
const SECONDS = Number(values.seconds);
const BLOCK_CLICKS = 60;
const BLOCK_BYTES = 64 + BLOCK_CLICKS * 230;
const FILE_BYTES = 64 * 1024 * 1024;

const CLICK: Unstamped<ClickEvent> = {
  kind: 'click',
  workspaceId: Buffer.alloc(16, 1),
  linkId: Buffer.alloc(16, 2),
  visitorId: Buffer.alloc(16, 3),
  channel: 'instagram',
  referer: 'https://l.instagram.com/?u=abc',
  userAgent:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  address: Buffer.alloc(16, 4),
  flags: 0,
};

type Row = { what: string; clicks: number; seconds: number; syncs?: number[] };

const directory = mkdtempSync(join(resolve(values.dir), '.hoplog-bench-journal-'));
try {
  print(encodeOnly());
  print(await rawInterval('write, fdatasync each 5 ms; growing file', false));
  print(await rawInterval('write, fdatasync each 5 ms; zero-filled file', true));
  print(rawAlways('write, fdatasync after each; growing file', false));
  print(rawAlways('write, fdatasync after each; zero-filled file', true));
  for (const syncMs of [5, 0]) {
    for (const visitors of [BLOCK_CLICKS, 10 * BLOCK_CLICKS]) print(await journal(syncMs, visitors));
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** The codec without a disk. */
function encodeOnly(): Row {
  const encode = createEventEncoder();
  const buffer = Buffer.alloc(1 << 20);
  const pad = { bytes: Buffer.alloc(16), position: 0 };
  let clicks = 0;
  let end = 0;
  const began = performance.now();
  while (performance.now() - began < SECONDS * 1000) {
    for (let i = 0; i < 1000; i++, clicks++) {
      end = encode(CLICK, clicks, pad, buffer, end > 1_000_000 ? 0 : end);
    }
  }
  return { what: 'encode only', clicks, seconds: (performance.now() - began) / 1000 };
}

/** The journal itself, settling `visitors` at a time. */
async function journal(syncMs: number, visitors: number): Promise<Row> {
  const writer = await openJournal({
    dataDir: directory,
    streamName: `bench-${syncMs}-${visitors}`,
    register: async () => ({ streamId: '01900000-0000-7000-8000-000000000001', ordinal: 0 }),
    syncMs,
    budgetBytes: 16 * 2 ** 30,
    sealer: createAddressSealer(Buffer.alloc(32, 1)),
    log: silentLogger(),
    registry: new Registry(),
  });
  let clicks = 0;
  let lost = 0;
  const began = performance.now();
  await new Promise<void>((done) => {
    let running = visitors;
    const append = () => {
      writer.append(CLICK, (outcome) => {
        clicks += 1;
        if (outcome === 'lost') lost += 1;
        if (performance.now() - began < SECONDS * 1000) append();
        else if (--running === 0) done();
      });
    };
    for (let i = 0; i < visitors; i++) append();
  });
  const seconds = (performance.now() - began) / 1000;
  await writer.close();
  rmSync(join(directory, 'journal'), { recursive: true });
  if (lost > 0) throw new Error(`${lost} of ${clicks} clicks were lost`);
  const mode = syncMs === 0 ? 'always' : `${syncMs}ms`;
  return { what: `journal, JOURNAL_SYNC=${mode}, ${visitors} visitors`, clicks, seconds };
}

/** Blocks as fast as they can be written, synced in the background as the journal does it. */
async function rawInterval(what: string, filled: boolean): Promise<Row> {
  const file = openFile(filled);
  const block = Buffer.alloc(BLOCK_BYTES, 7);
  const syncs: number[] = [];
  let clicks = 0;
  let nextSync = performance.now() + 5;
  let syncing = false;
  const began = performance.now();
  await new Promise<void>((done, fail) => {
    const turn = () => {
      const now = performance.now();
      if (now - began >= SECONDS * 1000 && !syncing) {
        done();
        return;
      }
      writeSync(file.fd, block, 0, BLOCK_BYTES, file.next());
      clicks += BLOCK_CLICKS;
      if (now >= nextSync && !syncing) {
        syncing = true;
        fdatasync(file.fd, (error) => {
          syncing = false;
          syncs.push(performance.now() - now);
          nextSync = performance.now() + 5;
          if (error) fail(error);
        });
      }
      setImmediate(turn);
    };
    turn();
  });
  const seconds = (performance.now() - began) / 1000;
  file.close();
  return { what, clicks, seconds, syncs };
}

/** One block after the other, each synced before the next. */
function rawAlways(what: string, filled: boolean): Row {
  const file = openFile(filled);
  const block = Buffer.alloc(BLOCK_BYTES, 7);
  const syncs: number[] = [];
  let clicks = 0;
  const began = performance.now();
  while (performance.now() - began < SECONDS * 1000) {
    writeSync(file.fd, block, 0, BLOCK_BYTES, file.next());
    const before = performance.now();
    fdatasyncSync(file.fd);
    syncs.push(performance.now() - before);
    clicks += BLOCK_CLICKS;
  }
  const seconds = (performance.now() - began) / 1000;
  file.close();
  return { what, clicks, seconds, syncs };
}

/** A file to write blocks to: `next` is where the next one goes, round and round within a filled file. */
function openFile(filled: boolean): { fd: number; next(): number; close(): void } {
  const path = join(directory, 'raw');
  const fd = openSync(path, 'w+');
  if (filled) {
    for (let at = 0; at < FILE_BYTES; at += 1 << 20) writeSync(fd, Buffer.alloc(1 << 20), 0, 1 << 20, at);
    fdatasyncSync(fd);
  }
  let position = 0;
  return {
    fd,
    next() {
      const at = filled && position + BLOCK_BYTES > FILE_BYTES ? 0 : position;
      position = at + BLOCK_BYTES;
      return at;
    },
    close() {
      closeSync(fd);
      rmSync(path);
    },
  };
}

function print({ what, clicks, seconds, syncs }: Row): void {
  const rate = Math.round(clicks / seconds).toLocaleString('en');
  const sorted = (syncs ?? []).toSorted((a, b) => a - b);
  const quantile = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2);
  const latency = syncs ? `   fdatasync p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms` : '';
  process.stdout.write(`${what.padEnd(50)} ${rate.padStart(12)} clicks/s${latency}\n`);
}
