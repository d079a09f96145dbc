import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Registry } from 'prom-client';
import { openJournal } from '../core/event-log/journal/open-journal.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { createEventEncoder } from '../core/events/codec.ts';
import { silentLogger } from '../core/tier/log.ts';
import { clicksFrom } from './data/clicks.ts';
import { benchmark } from './harness/bench.ts';
import { metric } from './harness/metrics.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { ratios } from './harness/statistics.ts';
import { writeBlocks } from './journal/raw-blocks.ts';

/**
 * Measures the clicks per second that the journal makes durable, with each block synced before the response
 * (`JOURNAL_SYNC=always`). Compares it with bare writes of equal blocks, each with an `fdatasync`, to a file of zeros.
 *
 *   node bench/journal.ts [--dir DIR] [--rounds 5] [--seconds 3]
 *
 * `--dir` is a directory on the disk to measure. Visitors append again after each response, so the appends during a
 * sync form the next block.
 */

const options = readOptions({ dir: '', seconds: 3 });
const MILLIS = options.seconds * 1_000;
const CLICKS = clicksFrom(7, 1_000);
const VISITORS = [64, 640];

type Turn = { perSecond: number; perBlock: number };

await benchmark(async (bench) => {
  const directory =
    options.dir === '' ? bench.directory : join(resolve(options.dir), '.hoplog-bench-journal');
  mkdirSync(directory, { recursive: true });
  bench.defer(() => rmSync(directory, { recursive: true, force: true }));
  /** Block of the latest round of the journal, which the peer writes. */
  const blocks = new Map<string, { clicks: number; bytes: number }>();

  async function journal(name: string, syncMs: number, visitors: number): Promise<Turn> {
    const registry = new Registry();
    const writer = await openJournal({
      dataDir: directory,
      streamName: 'bench-0',
      register: async () => ({ streamId: '01900000-0000-7000-8000-000000000001', ordinal: 0 }),
      syncMs,
      budgetBytes: 64 * 2 ** 30,
      sealer: createAddressSealer(Buffer.alloc(32, 1)),
      log: silentLogger(),
      registry,
    });
    let clicks = 0;
    let lost = 0;
    const began = performance.now();
    await new Promise<void>((done) => {
      let running = visitors;
      const append = () => {
        writer.append(CLICKS[clicks % CLICKS.length] as (typeof CLICKS)[number], (outcome) => {
          clicks += 1;
          if (outcome === 'lost') lost += 1;
          if (performance.now() - began < MILLIS) append();
          else if (--running === 0) done();
        });
      };
      for (let i = 0; i < visitors; i++) append();
    });
    const seconds = (performance.now() - began) / 1_000;
    const page = await registry.metrics();
    await writer.close();
    rmSync(join(directory, 'journal'), { recursive: true });
    if (lost > 0) throw new Error(`${lost} of ${clicks} clicks were lost`);
    const written = metric(page, 'hoplog_journal_batches_total');
    const perBlock = clicks / written;
    blocks.set(name, {
      clicks: perBlock,
      bytes: Math.round(metric(page, 'hoplog_journal_bytes_total') / written),
    });
    return { perSecond: clicks / seconds, perBlock };
  }

  async function raw(name: string, everyMs: number): Promise<Turn> {
    const block = blocks.get(name);
    if (!block) throw new Error(`${name} has had no turn yet`);
    const { written, seconds } = await writeBlocks(join(directory, 'raw'), block.bytes, everyMs, MILLIS);
    return { perSecond: (written * block.clicks) / seconds, perBlock: block.clicks };
  }

  const pairs = [
    ...VISITORS.map((visitors) => ({ sync: 'always', syncMs: 0, visitors })),
    { sync: '5ms', syncMs: 5, visitors: VISITORS[0] ?? 64 },
  ].map((given) => {
    const name = `journal, JOURNAL_SYNC=${given.sync}, ${given.visitors} visitors`;
    const when = given.syncMs === 0 ? 'after each' : `each ${given.syncMs} ms`;
    return { ...given, name, peer: `write of these blocks, fdatasync ${when} (${given.visitors})` };
  });
  const contestants = pairs.flatMap(({ name, peer, syncMs, visitors }): Contestant<Turn>[] => [
    { name, measure: () => journal(name, syncMs, visitors) },
    { name: peer, measure: () => raw(name, syncMs) },
  ]);
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof Turn) => ofContestant(measured, name).map((turn) => turn[key]);
  const against = pairs.map(({ name, peer }) => ratios(of(name, 'perSecond'), of(peer, 'perSecond')));
  report(options.results, {
    name: 'journal',
    title: 'Clicks a second that the journal makes durable, beside bare writes of the same blocks',
    versions: [],
    tables: [
      {
        header: ['', 'clicks/s', 'clicks a block'],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'perSecond')),
          spread(of(name, 'perBlock')),
        ]),
      },
      {
        header: ['journal / bare writes, round by round', 'ratio', 'wanted'],
        rows: pairs.map(({ sync, visitors }, n) => [
          `JOURNAL_SYNC=${sync}, ${visitors} visitors`,
          spread(against[n] ?? [], 2),
          sync === 'always' ? 'at least 0.80' : '',
        ]),
      },
    ],
    notes: [`Encoding alone: ${number(encodeOnly())} clicks/s.`],
    figures: {
      journal_always_clicks_per_second: median(of(pairs[1]?.name ?? '', 'perSecond')),
      journal_over_raw: median(against[0] ?? []),
    },
  });
});

/** Measures the codec without a disk, clicks per second. */
function encodeOnly(): number {
  const encode = createEventEncoder();
  const buffer = Buffer.alloc(1 << 20);
  const pad = { bytes: Buffer.alloc(16), position: 0 };
  let clicks = 0;
  let end = 0;
  const began = performance.now();
  while (performance.now() - began < 1_000) {
    for (let i = 0; i < 1_000; i++, clicks++) {
      end = encode(
        CLICKS[clicks % CLICKS.length] as (typeof CLICKS)[number],
        clicks,
        pad,
        buffer,
        end > 1_000_000 ? 0 : end,
      );
    }
  }
  return (clicks * 1_000) / (performance.now() - began);
}
