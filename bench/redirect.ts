import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../sql/migrate.ts';
import { createPool } from '../sql/pool.ts';
import { makeLink, makeWorkspace } from '../test/support/ingest.ts';

/**
 * Redirects a second: `node bench/redirect.ts [--connections 64] [--seconds 5] [--links 1000]`.
 *
 * Starts PostgreSQL, the ingest process and this load generator on one machine, clicks links over keep-alive
 * connections from a second process, and prints a table. Every answered click stands in the journal.
 */
const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    links: { type: 'string', default: '1000' },
    sync: { type: 'string', default: '5ms' },
  },
});

const USER_AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';

type Result = { answered: number; latencies: Float64Array };

/**
 * Keeps one request under way on a connection and notes how long each took. Never more: uWebSockets.js ends a
 * connection that sends a request before the last one has been answered, and here no answer is at once.
 */
function drive(port: number, slugs: string[], until: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const latencies: number[] = [];
    let sentAt = 0;
    const socket: Socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    socket.on('error', reject);
    const send = () => {
      const slug = slugs[Math.floor(Math.random() * slugs.length)] ?? '';
      sentAt = performance.now();
      socket.write(
        `GET /${slug}?q=1 HTTP/1.1\r\nHost: short.test\r\nUser-Agent: ${USER_AGENT}\r\nReferer: https://www.facebook.com/\r\n\r\n`,
      );
    };
    socket.on('connect', send);
    socket.on('close', () =>
      resolve({ answered: latencies.length, latencies: Float64Array.from(latencies) }),
    );
    let rest = '';
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      if (!rest.endsWith('\r\n\r\n')) return;
      if (!rest.startsWith('HTTP/1.1 302')) reject(new Error(rest.slice(0, 100)));
      rest = '';
      latencies.push(performance.now() - sentAt);
      if (performance.now() < until) send();
      else socket.destroy();
    });
  });
}

async function startIngest(
  databaseUrl: string,
  dataDir: string,
): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'ingest/main.ts'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      INGEST_PORT: '0',
      METRICS_PORT: '0',
      SHORT_URL: 'http://short.test',
      LOG_LEVEL: 'warn',
      JOURNAL_SYNC: values.sync,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('no output');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, port: (JSON.parse(line.toString()) as { port: number }).port };
}

async function main(): Promise<void> {
  const { startEmbeddedPostgres } = await import('../cli/embedded/postgres.ts');
  const { silentLogger } = await import('../core/log.ts');
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir, log: silentLogger() });
  const pool = createPool(postgres.url);
  try {
    await migrate(pool);
    const { id } = await makeWorkspace(pool);
    const slugs: string[] = [];
    for (let index = 0; index < Number(values.links); index++) {
      const columns = {
        channel: 'facebook',
        utm_source: 'facebook',
        utm_medium: 'social',
        utm_campaign: 'bench',
      };
      slugs.push((await makeLink(pool, id, `https://example.com/page/${index}`, columns)).slug);
    }
    const { child, port } = await startIngest(postgres.url, dataDir);
    await run(port, slugs, 1);
    const cpu = cpuSeconds(child.pid ?? 0);
    const seconds = Number(values.seconds);
    const results = await run(port, slugs, seconds);
    const used = cpuSeconds(child.pid ?? 0) - cpu;
    child.kill('SIGTERM');
    await once(child, 'exit');
    print(results, seconds, used);
  } finally {
    await pool.end();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function run(port: number, slugs: string[], seconds: number): Promise<Result[]> {
  const until = performance.now() + seconds * 1_000;
  return Promise.all(Array.from({ length: Number(values.connections) }, () => drive(port, slugs, until)));
}

/** User and system time of a process, seconds: fields 14 and 15 of `/proc/PID/stat`, in hundredths. */
function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

function print(results: Result[], seconds: number, cpu: number): void {
  const latencies = Float64Array.from(results.flatMap((result) => [...result.latencies])).sort();
  const answered = latencies.length;
  const quantile = (q: number) => `${(latencies[Math.floor(q * (answered - 1))] ?? 0).toFixed(2)} ms`;
  console.table([
    {
      connections: Number(values.connections),
      sync: values.sync,
      redirects: answered,
      'redirects/s': Math.round(answered / seconds),
      'redirects/CPU second': Math.round(answered / cpu),
      p50: quantile(0.5),
      p99: quantile(0.99),
      max: quantile(1),
    },
  ]);
}

await main();
