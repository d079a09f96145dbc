import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { createApi } from '../api/app.ts';
import { startEmbeddedClickHouse } from '../cli/embedded/clickhouse.ts';
import { startEmbeddedPostgres } from '../cli/embedded/postgres.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import type { EventLogWriter } from '../core/event-log/port.ts';
import { readConfig } from '../core/settings/config.ts';
import { createLogger, silentLogger } from '../core/tier/log.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool } from '../sql/database/pool.ts';
import { createKey } from '../sql/workspaces/keys.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { watchLoop } from '../test/support/loop-holds.ts';
import { benchmark, progress } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { report, spread } from './harness/report.ts';
import { HOSTILE_BODIES, type HostileBody } from './hostile/bodies.ts';
import type { Answered } from './hostile/send.ts';

/**
 * Measures how long one request with a hostile body holds the API's event loop. Another process sends the bodies. The
 * measure is the longest iteration of the loop: the lesser of its clock time and its thread's CPU time. So other
 * programs on the machine do not count, but garbage collection does.
 *
 *   node bench/hostile-bodies.ts [--rounds 5] [--wanted 50]
 *
 * Fails when the median of a body's rounds is over `--wanted` milliseconds.
 */

const options = readOptions({ wanted: 50 });
/** Iterations of an idle loop before each measurement. */
const REST_MS = 100;

/** Hostile bodies write no events. */
const noEventLog: EventLogWriter = {
  stream: { streamId: '00000000-0000-7000-8000-000000000000', ordinal: 0 },
  append: () => {
    throw new Error('an event was written: hostile bodies must not write events');
  },
  flush: () => undefined,
  fill: () => 0,
  loss: () => null,
  ready: () => true,
  close: async () => undefined,
};

await benchmark(async (bench) => {
  const log = createLogger('bench', 'error');
  const postgres = await startEmbeddedPostgres({ dataDir: bench.directory, log });
  bench.defer(() => postgres.stop());
  const server = await startEmbeddedClickHouse({ dataDir: bench.directory, log });
  bench.defer(() => server.stop());
  const pool = createPool(postgres.url, { max: 20 });
  bench.defer(() => pool.end());
  await migrate(pool);
  const clickhouse = createClickHouse({ url: server.url, database: 'default' });
  bench.defer(() => clickhouse.close());
  const app = await createApi({
    config: readConfig({}),
    pool,
    clickhouse,
    eventLog: noEventLog,
    log: silentLogger(),
    registry: new Registry(),
  });
  bench.defer(() => app.close());
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const keysOf = async (plan: 'free' | 'unlimited') => {
    const { id: workspaceId } = await createWorkspace(pool, { name: `Bench ${plan}`, plan });
    const keyOf = async (kind: 'secret' | 'publishable') =>
      (await createKey(pool, { workspaceId, kind, label: kind })).token;
    return { secret: await keyOf('secret'), publishable: await keyOf('publishable') };
  };
  const keys = { free: await keysOf('free'), unlimited: await keysOf('unlimited') };
  const sender = fork(fileURLToPath(new URL('./hostile/send.ts', import.meta.url)));
  bench.defer(() => sender.kill());

  async function measure(body: HostileBody, round: number): Promise<Answered & { held: number }> {
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const watch = watchLoop();
    const key = keys[body.plan ?? 'free'][body.key ?? 'secret'];
    sender.send({ name: body.name, url: `${origin}/api/v1${body.path}`, key, round });
    const answered = await new Promise<Answered>((resolve) => sender.once('message', resolve));
    return { ...answered, held: watch() };
  }

  const rows: { name: string; path: string; statuses: string; bytes: number; held: number[] }[] = [];
  for (const body of HOSTILE_BODIES) {
    progress(body.name);
    await measure(body, -1); // compiles the route's schemas
    const rounds: (Answered & { held: number })[] = [];
    for (let round = 0; round < options.rounds; round++) rounds.push(await measure(body, round));
    rows.push({
      name: body.name,
      path: body.path,
      bytes: rounds[0]?.bytes ?? 0,
      statuses: [...new Set(rounds.map(({ status }) => status))].join(', '),
      held: rounds.map(({ held }) => held),
    });
  }
  const longest = (held: number[]) => held.toSorted((a, b) => a - b)[held.length >> 1] ?? 0;
  report(options.results, {
    name: 'hostile-bodies',
    title: 'How long one request with a hostile body holds the event loop of the API',
    versions: ['milliseconds of the longest iteration: median of the rounds (range)'],
    tables: [
      {
        header: ['body', 'path', 'KB', 'status', 'held ms'],
        rows: rows.map(({ name, path, bytes, statuses, held }) => [
          name,
          path,
          String(Math.round(bytes / 1_000)),
          statuses,
          spread(held, 1),
        ]),
      },
    ],
    notes: [`Wanted: at most ${options.wanted} ms.`],
    figures: { hostile_body_held_ms: Math.max(...rows.map(({ held }) => longest(held))) },
  });
  const over = rows.filter(({ held }) => longest(held) > options.wanted);
  if (over.length > 0)
    throw new Error(`over ${options.wanted} ms: ${over.map(({ name }) => name).join(', ')}`);
});
