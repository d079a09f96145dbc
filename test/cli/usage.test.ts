import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { directoryId } from '../../cli/processes/record-file.ts';
import { hoplog, operator, run } from '../support/hoplog.ts';
import { programArguments } from '../support/program.ts';
import { type TestStores, testStores } from '../support/stores.ts';

let stores: TestStores;
let cli: ReturnType<typeof operator>;
let directory: string;

beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
  cli = operator(stores);
  directory = mkdtempSync(join(tmpdir(), 'hoplog-cli-'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await stores.close();
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(await hoplog(['--version'], {})).toMatchObject({ status: 0, stdout: `${version}\n` });
});

test('wrong usage exits with status 2, with the reason on standard error', async () => {
  await cli.refused(2, /unknown option '--frobnicate'/, 'workspace', 'list', '--frobnicate');
});

test('migrate rejects the passwords of docker-compose.yml where other machines reach the ports', async () => {
  const env = (database: string, clickhouse: string) => ({
    DATABASE_URL: `postgres://hoplog:${database}@127.0.0.1:9/hoplog`,
    CLICKHOUSE_URL: `http://hoplog:${clickhouse}@127.0.0.1:9`,
  });
  const published = (address: string, database: string, clickhouse: string) =>
    hoplog(['migrate', '--published-on', address], env(database, clickhouse));
  const refused =
    /(postgres|clickhouse)-password in SECRETS_DIR is "laptop-only": must be a password of your own/;
  expect(await published('0.0.0.0', 'laptop-only', 'own')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(refused),
  });
  expect(await published('0.0.0.0', 'own', 'laptop-only')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(refused),
  });
  const tls = ['migrate', '--published-on', '127.0.0.1', '0.0.0.0'];
  expect(await hoplog(tls, env('laptop-only', 'own'))).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(refused),
  });
  expect((await published('0.0.0.0', 'own', 'own')).stderr).toMatch(/ECONNREFUSED/);
  expect((await published('127.0.0.1', 'laptop-only', 'laptop-only')).stderr).toMatch(/ECONNREFUSED/);
});

test('help exits with status 0', async () => {
  const help = await hoplog(['workspace', 'create', '--help'], {});
  expect(help).toMatchObject({ status: 0, stderr: '' });
  expect(help.stdout).toMatch(/--plan <plan>.*"unlimited"/s);
});

test('databases that are neither set nor running, or do not respond, are a failure that says so', async () => {
  const nothing = await hoplog(['workspace', 'list', '--json'], { DATA_DIR: directory });
  expect(nothing).toMatchObject({ status: 1, stdout: '' });
  expect(nothing.stderr).toMatch(/no running service in DATA_DIR=.*npm start/);
  const away = await hoplog(['workspace', 'list'], {
    ...cli.env,
    DATABASE_URL: 'postgres://a:b@127.0.0.1:9/x',
  });
  expect(away).toMatchObject({ status: 1, stdout: '' });
  expect(away.stderr).toMatch(/ECONNREFUSED/);
  const wrong = await hoplog(['workspace', 'list'], { ...cli.env, API_PORT: 'x' });
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringMatching(/setting API_PORT/)]);
});

test('beside a start of another user it names the user to run it as', async () => {
  const barred = join(directory, 'of-another', 'run');
  mkdirSync(barred, { recursive: true });
  chmodSync(barred, 0);
  const command = [process.execPath, ...programArguments('hoplog'), 'status'];
  // Root reads everything, unless it dropped the capabilities for that.
  const bound = ['--bounding-set=-dac_override,-dac_read_search', ...command];
  const [file = '', ...args] = process.getuid?.() === 0 ? ['setpriv', ...bound] : command;
  const refused = await run(file, args, { DATA_DIR: dirname(barred) });
  chmodSync(barred, 0o700);
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toMatch(/cannot read DATA_DIR=.*as the user who runs "npm start"/);
});

test('beside a running start it uses the addresses that the start recorded', async () => {
  mkdirSync(join(directory, 'run'), { recursive: true });
  const { DATABASE_URL, DATABASE_OWNER_URL, CLICKHOUSE_URL, CLICKHOUSE_DATABASE } = cli.env;
  const left = {
    databaseUrl: DATABASE_URL,
    databaseOwnerUrl: DATABASE_OWNER_URL,
    clickhouseUrl: CLICKHOUSE_URL,
    baseUrl: 'http://a',
    appUrl: 'http://a',
    shortUrl: 'http://b',
    health: { ingest: '', api: '' },
    directory: directoryId(join(directory, 'run')),
  };
  writeFileSync(join(directory, 'run', 'supervisor.json'), JSON.stringify({ pid: 1, ...left }));
  const list = await hoplog(['workspace', 'list', '--json'], { DATA_DIR: directory, CLICKHOUSE_DATABASE });
  expect(list).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(list.stdout)).toEqual({ workspaces: [] });
});

test('npx hoplog works from the checkout, and prints text for people without --json', async () => {
  const made = await run('npx', ['hoplog', 'workspace', 'create', '--name', 'From npx'], cli.env);
  expect(made.status).toBe(0);
  expect(made.stdout).toMatch(/^id +slug +plan/);
  expect(made.stdout).toMatch(/from-npx +unlimited +active/);
  expect(made.stdout).toMatch(
    /secret key +lk_live_\w+\npublishable key +pk_live_\w+\nBoth keys are shown only once/,
  );
  const before = await run('npx', ['hoplog', '--json', 'workspace', 'list'], cli.env);
  expect(JSON.parse(before.stdout)).toHaveProperty('workspaces');
});
