import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { programIn, temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { freePort } from '../embedded/free-port.ts';
import { childRecords } from './records.ts';
import { superviseTier, type Tier, type TierDeps, type TierSpec } from './tier.ts';

const SAYS_READY = `process.stdout.write('{"event":"ready"}\\n'); setInterval(() => {}, 1000);`;
/** Runs once the file `END` exists. A tier that exits sooner may do so before its ready line is read. */
const atEnd = (source: string) =>
  `setInterval(() => { if (require('node:fs').existsSync(process.env.END)) { ${source} } }, 100);`;

let directory: ReturnType<typeof temporaryDirectory>;
let tier: Tier | undefined;
let changes: boolean[];

beforeEach(() => {
  directory = temporaryDirectory();
  changes = [];
});

afterEach(async () => {
  tier?.kill();
  await tier?.stop();
  directory.remove();
});

function keep(source: string, given: Partial<TierSpec> = {}, deps: Partial<TierDeps> = {}): Tier {
  tier = superviseTier(
    {
      name: 'workers',
      script: programIn(directory.path, 'main.cjs', source),
      flags: [],
      env: {},
      readiness: { kind: 'line' },
      ports: [],
      drainMs: 60_000,
      ...given,
    },
    {
      log: silentLogger(),
      records: childRecords(directory.path, silentLogger()),
      onChange: (_name, up) => changes.push(up),
      ...deps,
    },
  );
  return tier;
}

/** A path of the test's directory. */
const fileAt = (name: string) => join(directory.path, name);

function until(condition: () => boolean): Promise<void> {
  return expect.poll(condition, { message: String(condition) }).toBe(true);
}

test('the log names the signal that ended a tier', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const env = { END: fileAt('end') };
  await keep(`${SAYS_READY} ${atEnd("process.kill(process.pid, 'SIGKILL')")}`, { env }, { log }).ready;
  writeFileSync(env.END, '');
  await until(() => lines.join('').includes('child ended by SIGKILL (out of memory?); will restart'));
});

test('a tier is ready when it prints its ready line', async () => {
  await keep(SAYS_READY).ready;
  expect(changes).toEqual([true]);
});

test('a tier is not ready before its health endpoint returns 200', async () => {
  const port = await freePort();
  const source = `let asked = 0;
    require('node:http').createServer((request, response) => {
      asked += 1;
      response.statusCode = asked < 3 ? 503 : 200;
      response.end(String(asked));
    }).listen(${port}, '127.0.0.1', () => console.log('{"event":"ready"}'))`;
  const url = `http://127.0.0.1:${port}/health/ready`;
  await keep(source, { readiness: { kind: 'http', urls: [url] } }).ready;
  expect(Number(await (await fetch(url)).text())).toBeGreaterThan(3);
});

test('a response of another process at its port does not make a tier ready', async () => {
  const other = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/health/ready`;
  const kept = keep(`setTimeout(() => process.exit(78), 300)`, { readiness: { kind: 'http', urls: [url] } });
  await expect(kept.ready).rejects.toThrow('exited with 78');
  expect(changes).toEqual([false]);
  other.close();
});

test('a tier that was ready is restarted, even if its port is temporarily in use', async () => {
  const source = `if (require('node:fs').existsSync(process.env.END)) process.exit(78);
    ${SAYS_READY} ${atEnd('process.exit(1)')}`;
  const env = { END: fileAt('taken') };
  await keep(source, { env }).ready;
  writeFileSync(env.END, '');
  await until(() => changes.filter((up) => !up).length >= 2);
  rmSync(env.END);
  await until(() => changes.filter((up) => up).length >= 2);
});

test('a tier that exits is restarted', async () => {
  const env = { END: fileAt('end') };
  await keep(`${SAYS_READY} ${atEnd('process.exit(1)')}`, { env }).ready;
  writeFileSync(env.END, '');
  await until(() => changes.filter((up) => up).length >= 3);
});

test('a tier that is killed is restarted', async () => {
  const env = { END: fileAt('end') };
  await keep(`${SAYS_READY} ${atEnd("process.kill(process.pid, 'SIGKILL')")}`, { env }).ready;
  writeFileSync(env.END, '');
  await until(() => changes.filter((up) => up).length >= 2);
});

test('a tier with a configuration error is not restarted', async () => {
  const kept = keep('process.exit(78)');
  await expect(kept.ready).rejects.toThrow('workers cannot be started: it exited with 78');
  expect(changes).toEqual([false]);
});

test('a tier that is never ready fails after three exits', async () => {
  await expect(keep('process.exit(1)').ready).rejects.toThrow('it exited with 1');
  expect(changes).toEqual([false, false, false]);
});

test('a persistent tier is restarted until it is ready', async () => {
  const source = `const { appendFileSync, readFileSync } = require('node:fs');
    appendFileSync(process.env.STARTS, 'x');
    if (readFileSync(process.env.STARTS).length < 5) process.exit(1);
    ${SAYS_READY}`;
  const env = { STARTS: join(directory.path, 'starts') };
  await keep(source, { env }, { isPersistent: true }).ready;
  expect(changes).toEqual([false, false, false, false, true]);
});

test('the error of a tier names the port that another process uses', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const ports = [{ setting: 'METRICS_PORT', configured: 9_100, host: '127.0.0.1', port }] as const;
  const kept = keep('process.exit(78)', { ports });
  await expect(kept.ready).rejects.toThrow(
    `workers cannot be started: setting METRICS_PORT="9100": port ${port} on 127.0.0.1 is in use already`,
  );
  other.close();
});

test('an unreachable health endpoint is logged with its URL and the cause', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const urls = [`http://127.0.0.1:${await freePort()}/health/ready`];
  keep(SAYS_READY, { readiness: { kind: 'http', urls } }, { log, unansweredMs: 0 });
  await until(() => lines.length > 0);
  expect(lines[0]).toMatch(`health endpoint does not respond (${urls[0]}: connect ECONNREFUSED`);
});

test('a tier is ready when its second URL responds', async () => {
  const port = await freePort();
  const source = `require('node:http').createServer((request, response) => response.end())
    .listen(${port}, '127.0.0.1', () => console.log('{"event":"ready"}'))`;
  const urls = [`http://[::1]:${port}/`, `http://127.0.0.1:${port}/`];
  await keep(source, { readiness: { kind: 'http', urls } }).ready;
  expect(changes).toEqual([true]);
});

test('a tier starts and stops when its records cannot be written', async () => {
  const records = childRecords(join(directory.path, 'missing'), silentLogger());
  const kept = keep(SAYS_READY, {}, { records });
  await kept.ready;
  await kept.stop();
  expect(changes).toEqual([true, false]);
});

test('a stop drains the tier and does not restart it', async () => {
  const kept = keep(
    `process.on('SIGTERM', () => setTimeout(() => { require('node:fs').writeFileSync(process.env.DONE, 'x'); process.exit(0) }, 100)); ${SAYS_READY}`,
    { env: { DONE: `${directory.path}/drained` } },
  );
  await kept.ready;
  await kept.stop();
  expect(changes).toEqual([true, false]);
  expect(existsSync(`${directory.path}/drained`)).toBe(true);
});

test('a tier that does not drain in time is killed', async () => {
  const kept = keep(`process.on('SIGTERM', () => {}); ${SAYS_READY}`, { drainMs: 200 });
  await kept.ready;
  await kept.stop();
  expect(changes).toEqual([true, false]);
});

test('`ready` rejects when the tier is stopped first', async () => {
  const kept = keep('setInterval(() => {}, 1000)');
  await kept.stop();
  await expect(kept.ready).rejects.toThrow('workers was stopped before it was ready');
});
