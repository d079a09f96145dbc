import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createPool } from '../sql/database/pool.ts';
import { storesOf } from '../test/kafka/deployment.ts';
import { startService } from '../test/support/service.ts';
import { canMount, mountSmallDisk } from '../test/support/small-disk.ts';
import { AT_REST_MIB, type AtRest, watchAtRest } from './footprint/rest.ts';
import { benchmark, progress } from './harness/bench.ts';
import { bytesByFolder } from './harness/folders.ts';
import { readOptions } from './harness/options.ts';
import { number, report } from './harness/report.ts';

/**
 * Measures an idle `npm start`: memory and its growth, CPU, wake-ups, writes to its disk, and growth of the files
 * there.
 *
 *   node bench/footprint.ts [--seconds 600] [--settle 120]
 *
 * The data directory is on a file system of its own, so that writes of others do not count. That needs root on Linux;
 * otherwise the disk is not measured. Exits with 1 when a limit is exceeded.
 */

const options = readOptions({ seconds: 600, settle: 120 });
const MIB = 2 ** 20;
const DISK_BYTES = 4 * 2 ** 30;
const SECONDS_PER_DAY = 86_400;
/** Limits of the sum of all parts. */
const LIMITS = { pssMiB: AT_REST_MIB, cpu: 0.01, bytesPerDay: 1e9, flushesPerSecond: 2 };

await benchmark(async (bench) => {
  const disk = canMount() ? mountSmallDisk(bench.directory, DISK_BYTES) : null;
  if (disk) bench.defer(() => disk.remove());
  const dataDir = join(disk?.path ?? bench.directory, 'data');
  mkdirSync(dataDir);
  progress('starting the service');
  const service = await startService({ dataDir, env: { LOG_LEVEL: 'warn' } });
  bench.defer(() => service.stop());
  progress(`settling for ${options.settle} s`);
  await delay(options.settle * 1_000);
  // Runs the first vacuum and the first checkpoint now, because their writes belong to the start. They would follow
  // minutes later.
  if (disk) await writeOut(dataDir, ['VACUUM (ANALYZE)']);
  progress(`watching for ${options.seconds} s`);
  const foldersBefore = bytesByFolder(dataDir);
  const rest = await watchAtRest({
    supervisor: service.process.pid ?? 0,
    device: disk?.device ?? null,
    seconds: options.seconds,
    writeOut: async () => {
      if (disk) await writeOut(dataDir);
    },
  });
  const sums = sumsOf(rest);
  const folders = [...bytesByFolder(dataDir)].map(([name, bytes]) => ({
    name,
    bytes,
    perDay: ((bytes - (foldersBefore.get(name) ?? 0)) / options.seconds) * SECONDS_PER_DAY,
  }));
  report(options.results, {
    name: 'footprint',
    title: 'What does `npm start` take while nothing happens?',
    versions: [],
    tables: [
      {
        title: `${number(options.seconds / 60, 1)} minutes, after ${number(options.settle / 60, 1)} minutes`,
        header: [
          'Part',
          'Processes',
          'PSS, MiB',
          'Growth, MiB an hour',
          'CPU, % of a core',
          'Wake-ups a second',
        ],
        rows: [
          ...[...rest.parts].map(([part, one]) => [
            part,
            number(one.processes),
            number(one.pssBytes / MIB, 1),
            number(one.pssBytesPerHour / MIB, 1),
            number(one.cpu * 100, 2),
            number(one.wakeUpsPerSecond, 1),
          ]),
          [
            'all',
            number(sums.processes),
            number(sums.pssMiB, 1),
            number(sums.pssMiBPerHour, 1),
            number(sums.cpu * 100, 2),
            number(sums.wakeUps, 1),
          ],
        ],
      },
      ...(rest.disk
        ? [
            {
              title: 'At the block device of the data directory (ext4)',
              header: ['GB a day', 'Flushes a second'],
              rows: [[number(rest.disk.bytesPerDay / 1e9, 2), number(rest.disk.flushesPerSecond, 2)]],
            },
          ]
        : []),
      {
        title: 'Folders of the data directory',
        header: ['Folder', 'MiB', 'Growth, MiB a day'],
        rows: folders.map(({ name, bytes, perDay }) => [
          name,
          number(bytes / MIB, 1),
          number(perDay / MIB, 1),
        ]),
      },
    ],
    notes: [
      'PSS: resident memory, with pages that processes of the service share divided among them; at the end.',
      'Growth: the slope of a line through a sample each minute.',
      `Wanted: at most ${LIMITS.pssMiB} MiB, 1 % of a core, 1 GB a day, and 2 flushes a second.`,
      ...exceeded(rest),
    ],
    figures: {
      footprint_pss_mib: sums.pssMiB,
      footprint_pss_mib_per_hour: sums.pssMiBPerHour,
      footprint_cpu_percent: sums.cpu * 100,
      footprint_wake_ups_per_second: sums.wakeUps,
      ...(rest.disk && {
        footprint_bytes_per_day: rest.disk.bytesPerDay,
        footprint_flushes_per_second: rest.disk.flushesPerSecond,
      }),
    },
  });
  if (exceeded(rest).length > 0) process.exitCode = 1;
});

/** Flushes the writes of PostgreSQL and the file system. @param before statements that run first */
async function writeOut(dataDir: string, before: readonly string[] = []): Promise<void> {
  const pool = createPool(storesOf(dataDir).databaseOwnerUrl, { max: 1 });
  try {
    for (const statement of [...before, 'CHECKPOINT']) await pool.query(statement);
  } finally {
    await pool.end();
  }
  execFileSync('sync', ['--file-system', dataDir]);
}

function sumsOf({ parts }: AtRest) {
  const all = [...parts.values()];
  return {
    processes: all.reduce((sum, { processes }) => sum + processes, 0),
    pssMiB: all.reduce((sum, { pssBytes }) => sum + pssBytes, 0) / MIB,
    pssMiBPerHour: all.reduce((sum, { pssBytesPerHour }) => sum + pssBytesPerHour, 0) / MIB,
    cpu: all.reduce((sum, { cpu }) => sum + cpu, 0),
    wakeUps: all.reduce((sum, { wakeUpsPerSecond }) => sum + wakeUpsPerSecond, 0),
  };
}

function exceeded(rest: AtRest): string[] {
  const { pssMiB, cpu } = sumsOf(rest);
  const measured: [what: string, value: number, limit: number][] = [
    ['memory in MiB', pssMiB, LIMITS.pssMiB],
    ['share of a core', cpu, LIMITS.cpu],
  ];
  if (rest.disk) {
    measured.push(
      ['bytes a day', rest.disk.bytesPerDay, LIMITS.bytesPerDay],
      ['flushes a second', rest.disk.flushesPerSecond, LIMITS.flushesPerSecond],
    );
  }
  return measured
    .filter(([, value, limit]) => value > limit)
    .map(([what, value, limit]) => `${what}: ${number(value, 2)} is above ${number(limit, 2)}`);
}
