import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import type { Command } from '../cli/embedded/unprivileged.ts';
import { EpochFile } from '../core/event-log/journal/epoch-file.ts';
import { createPool } from '../sql/database/pool.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { canLimitMemory, makeMemoryGroup } from './support/control-group.ts';
import { EACH_SECOND, hoplog, run } from './support/hoplog.ts';
import { startTestIngest, type TestIngest } from './support/ingest.ts';
import { ownClickHouse } from './support/own-clickhouse.ts';
import { HAS_PGBOUNCER, startPgBouncer } from './support/pgbouncer.ts';
import { killed } from './support/process-fixtures.ts';
import { PROGRAM_ENV, programArguments } from './support/program.ts';
import { shiftedClock } from './support/shifted-clock.ts';
import { createSlowGate } from './support/slow-gate.ts';
import { canMount, mountSmallDisk } from './support/small-disk.ts';
import { type TestStores, testStores } from './support/stores.ts';
import { until } from './support/until.ts';

type Finding = { check: string; severity: string; message: string; fix: string | null };

let directory: string;
let dataDir: string;
let stores: TestStores;

beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
});
afterAll(() => stores.close());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-doctor-'));
  dataDir = join(directory, 'data');
  mkdirSync(dataDir);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/**
 * Runs `hoplog doctor` on a set-up; returns what is wrong. Every finding must name a way to fix it.
 *
 * @param as how it is started; default: as any command
 */
async function examine(
  env: NodeJS.ProcessEnv,
  as?: Command,
): Promise<{ status: number | null; wrong: Finding[] }> {
  const args = ['doctor', '--json'];
  const whole = { DATA_DIR: dataDir, ...env };
  const ended = await (as
    ? run(as.file, [...as.args, ...programArguments('hoplog'), ...args], whole)
    : hoplog(args, whole));
  expect(ended.stderr).toBe('');
  const { findings } = JSON.parse(ended.stdout) as { findings: Finding[] };
  const wrong = findings.filter(({ severity }) => severity !== 'ok');
  for (const finding of wrong) expect(finding.fix, finding.message).toMatch(/\w{3}/);
  return { status: ended.status, wrong };
}

/**
 * Waits for an error, or a warning, of the check whose message matches: on a loaded machine a check exceeds its limit.
 */
async function expectFound(
  check: string,
  message: RegExp,
  env: NodeJS.ProcessEnv = {},
  as?: Command,
): Promise<void> {
  const isFound = ({ status, wrong }: Awaited<ReturnType<typeof examine>>) =>
    status === 1 && wrong.filter((one) => one.check === check && message.test(one.message)).length === 1;
  const options = { intervalMs: EACH_SECOND.interval };
  await until(`a finding of ${check} with ${message}`, () => examine(env, as), isFound, options);
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('a setting that is wrong, and one that is misspelled', async () => {
  await expectFound('settings', /^setting API_PORT="http"/, { API_PORT: 'http' });
  await expectFound('settings', /^API_PROT is not a setting/, { API_PROT: '3000' });
});

test('no running service, and a port that another program has', async () => {
  const port = await listening(createServer());
  await expectFound('service', /no service runs/);
  await expectFound('ports', new RegExp(`^INGEST_PORT=${port} is taken`), { INGEST_PORT: String(port) });
});

test('an API that is not ready', async () => {
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = stores;
  const env = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouseDatabase,
  };
  const gate = await createSlowGate(databaseUrl);
  const [port, metricsPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, programArguments('api'), {
    env: {
      ...PROGRAM_ENV,
      ...env,
      DATABASE_URL: gate.url,
      DATA_DIR: dataDir,
      API_PORT: String(port),
      METRICS_PORT: String(metricsPort),
    },
    stdio: 'ignore',
  });
  const origin = `http://127.0.0.1:${port}`;
  const status = () =>
    fetch(`${origin}/health/ready`).then(
      (response) => response.status,
      () => 0,
    );
  try {
    try {
      await expect.poll(status).toBe(200);
    } finally {
      await gate.close();
    }
    await expectFound('service', /^api: http:\/\/127\S+\/health\/ready returned status 503$/, {
      ...env,
      BASE_URL: origin,
    });
  } finally {
    await killed(child);
  }
});

test('a name that does not resolve, and one without TLS', async () => {
  await expectFound('dns', /^SHORT_URL=.* does not resolve/, { SHORT_URL: 'https://go.hoplog.invalid' });
  await expectFound('tls', /not encrypted/, { SHORT_URL: 'http://0.0.0.0:1' });
});

test('an identity provider of another issuer, and one that does not respond', async () => {
  const port: number = await listening(
    createHttpServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ issuer: `http://127.0.0.1:${port}/realms/other` }));
    }),
  );
  const env = (at: number) => ({
    OIDC_ISSUER: `http://127.0.0.1:${at}/realms/shop`,
    OIDC_CLIENT_ID: 'hoplog',
    OIDC_ALLOWED_DOMAINS: 'shop.example',
  });
  const both = new RegExp(`OIDC_ISSUER is \\S+:${port}/realms/shop, but .* \\S+:${port}/realms/other$`);
  await expectFound('sign-in', both, env(port));
  await expectFound('sign-in', /provider_down/, env(await freePort()));
});

test('a certificate that no authority signed, and one that expires soon', async () => {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '3',
  ];
  const names = ['-subj', '/CN=0.0.0.0', '-addext', 'subjectAltName=IP:0.0.0.0'];
  execFileSync('openssl', [...made, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const server = createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
    response.writeHead(503).end(),
  );
  const port = await listening(server);
  const env = { SHORT_URL: `https://0.0.0.0:${port}` };
  await expectFound('tls', /self.signed/i, env);
  await expectFound('tls', /expires in [23] days$/, { ...env, NODE_EXTRA_CA_CERTS: cert });
  await expectFound('proxy', /returned status 503$/, { ...env, NODE_EXTRA_CA_CERTS: cert });
});

test.each([
  ['does not trust the proxy', '', true, /TRUST_PROXY= does not have its address/],
  ['gets no X-Forwarded-For', '127.0.0.1', false, /sends no X-Forwarded-For/],
  ['trusts the proxy', '127.0.0.1', true, null],
])('an ingest that %s', async (_, trusted, forwards, message) => {
  const ingest: TestIngest = await startTestIngest({ ...stores, env: { TRUST_PROXY: trusted } });
  onTestFinished(async () => {
    await ingest.close();
    await ingest.remove();
  });
  const proxy = createHttpServer((incoming, outgoing) => {
    const headers = forwards ? { 'x-forwarded-for': incoming.socket.remoteAddress ?? '' } : {};
    request(`${ingest.url}${incoming.url}`, { headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(outgoing);
    }).end();
  });
  const port = await listening(proxy);
  const env = {
    SHORT_URL: `http://0.0.0.0:${port}`,
    TRUST_PROXY: trusted,
    INGEST_PORT: String(await freePort()),
  };
  if (message !== null) return expectFound('proxy', message, env);
  const wrong = async () => (await examine(env)).wrong.filter(({ check }) => check === 'proxy');
  await expect.poll(wrong, EACH_SECOND).toEqual([]);
});

test('a journal ahead of the clock', async () => {
  const stream = join(dataDir, 'journal', 'ingest-0');
  mkdirSync(stream, { recursive: true });
  const file = new EpochFile(stream);
  file.write({ epoch: 1, floor: 0n, lastTs: (Date.now() + 3_600_000) * 1_000 });
  file.close();
  await expectFound('clock', /ahead of this machine's clock.*ingest-0 by 3[56]\d\d s/);
});

test('data of another PostgreSQL version', async () => {
  mkdirSync(join(dataDir, 'postgres'));
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '14\n');
  await expectFound('version', /is of PostgreSQL 14/);
});

test('databases whose clocks differ, and one that does not respond', async () => {
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = stores;
  const env = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouseDatabase,
  };
  const clock = shiftedClock(directory);
  clock.shift(-3_600);
  await expectFound('clock', /^PostgreSQL's clock differs .* by 3[56]\d\d s$/, { ...env, ...clock.env });
  await expectFound('clock', /^ClickHouse's clock differs .* by 3[56]\d\d s$/, { ...env, ...clock.env });
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  await expectFound('databases', /^ClickHouse does not respond/, { ...env, CLICKHOUSE_URL: nowhere });
});

test('replicas of ClickHouse: not added, not used, behind in migrations, damaged, down, and not named', async () => {
  const { pool, databaseUrl, clickhouseUrl, clickhouseDatabase } = stores;
  const second = await ownClickHouse(clickhouseDatabase);
  onTestFinished(async () => {
    await second.close();
    await pool.query(`DELETE FROM replicas WHERE name != 'main'`);
  });
  const one = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouseDatabase,
  };
  const env = { ...one, CLICKHOUSE_REPLICAS: 'main,second', CLICKHOUSE_SECOND_URL: second.url };
  await expectFound('replicas', /^second is in CLICKHOUSE_REPLICAS and was not added/, env);
  await pool.query(`INSERT INTO replicas (name) VALUES ('second')`);
  await expectFound('replicas', /^ClickHouse second: not used, 0\.0 s behind/, env);
  await expectFound('replicas', /^the replica second is not in CLICKHOUSE_REPLICAS/, one);
  const { findings } = JSON.parse((await hoplog(['doctor', '--json'], { DATA_DIR: dataDir, ...env })).stdout);
  const messages = (findings as Finding[])
    .filter(({ severity }) => severity === 'ok')
    .map(({ message }) => message);
  expect(messages).toEqual(
    expect.arrayContaining([
      'ClickHouse main is read, 0.0 s behind the event log',
      expect.stringMatching(/^ClickHouse is version \d+/),
      expect.stringMatching(/^disk default of ClickHouse second: .* free$/),
      'ClickHouse second has all migrations',
      'ClickHouse second has no damaged parts',
      "ClickHouse second has this machine's time",
    ]),
  );

  await second.clickhouse.command({
    query:
      'ALTER TABLE migrations DELETE WHERE name = (SELECT max(name) FROM migrations) SETTINGS mutations_sync = 1',
  });
  await expectFound('schema', /^ClickHouse second lacks the migrations \d{4}_\w+\.sql$/, env);
  await second.clickhouse.command({ query: 'INSERT INTO removed_clicks VALUES (now64(9), 1)' });
  const [part] = await (
    await second.clickhouse.query({
      query: `SELECT path FROM system.parts WHERE table = 'removed_clicks' AND database = currentDatabase() AND active`,
      format: 'JSONEachRow',
    })
  ).json<{ path: string }>();
  await second.kill();
  await expectFound('databases', /^ClickHouse second does not respond/, env);
  writeFileSync(join(part?.path ?? '', 'checksums.txt'), 'x');
  await second.start();
  await expectFound('damage', /^ClickHouse second has damaged parts.* removed_clicks/, env);
});

test('a replica that does not respond, and a snapshot of links in a place that cannot be read', async () => {
  const replica = new URL(stores.databaseUrl);
  replica.port = String(await freePort());
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const env = {
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
    DATABASE_READ_URL: replica.href,
    LINKS_SNAPSHOT_TO: file,
  };
  await expectFound('replica', /^DATABASE_READ_URL does not respond: .*ECONNREFUSED/, env);
  await expectFound('snapshot', /^cannot read LINKS_SNAPSHOT_TO=.*ENOTDIR/, env);
});

test('processes that may open more connections than PostgreSQL accepts', async () => {
  const env = {
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
  };
  const ofApi = createPool(stores.databaseUrl, { name: 'hoplog-api' });
  onTestFinished(() => ofApi.end());
  await ofApi.query('SELECT 1');
  await expectFound('databases', /accepts 197 connections, and [23]\d\d may be opened: .*1 api x 250/, {
    ...env,
    DATABASE_POOL_API: '250',
  });
  const enough = (await hoplog(['doctor', '--json'], { DATA_DIR: dataDir, ...env })).stdout;
  expect(enough).toMatch(/accepts 197 connections, and \d\d may be opened/);
});

test('connections of billing providers without a secret, refused, silent, behind, or with failed events', async () => {
  const { pool, databaseUrl, clickhouseUrl, clickhouseDatabase } = stores;
  const env = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouseDatabase,
  };
  const troubles = async () =>
    (await examine(env)).wrong.flatMap(({ check, message }) => (check === 'connections' ? [message] : []));
  const { id: workspace, slug } = await createWorkspace(pool, { name: 'Sells', plan: 'pro' });
  const secret = Buffer.from('sealed');
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const connect = async (fields: {
    updated_at?: Date;
    signing_secret?: Buffer | null;
    [name: string]: unknown;
  }) => {
    const id = crypto.randomUUID();
    const all = {
      id,
      workspace_id: workspace,
      provider: 'stripe',
      settings: '{}',
      signing_secret: secret,
      ...fields,
    };
    const row = { created_at: ago(60 - made++ / 1_000), updated_at: new Date(), ...all };
    const names = Object.keys(row);
    const places = names.map((_, index) => `$${index + 1}`);
    await pool.query(`INSERT INTO connections (${names}) VALUES (${places})`, Object.values(row));
    return id;
  };
  let made = 0;
  await connect({ last_event_at: ago(1), refused_at: ago(2) });
  await connect({ signing_secret: null });
  expect(await troubles()).toEqual([]);
  await connect({ signing_secret: null, updated_at: ago(2) });
  await connect({ last_event_at: ago(2), refused_at: ago(1) });
  await connect({ updated_at: ago(2), provider: 'paddle' });
  await connect({ last_event_at: ago(15) });
  const behind = await connect({ last_event_at: ago(0) });
  for (const [id, status] of Object.entries({ a: 'pending', b: 'failed' }))
    await pool.query(
      `INSERT INTO connection_events (workspace_id, connection_id, id, event_id, type, customer_key, body, status, due_at,
         received_at)
       VALUES ($1, $2, gen_random_uuid(), $3, 'invoice.paid', '', '{}', $4, now(), now() - interval '1 hour')`,
      [workspace, behind, id, status],
    );
  const found = async () => (await troubles()).map((message) => message.replace(/ \([0-9a-f-]{36}\)/, ''));
  await expect
    .poll(found, EACH_SECOND)
    .toEqual([
      `Stripe of workspace ${slug} has had no signing secret for a day: its events are refused`,
      `Stripe of workspace ${slug} gets calls with a wrong signature, and no event since`,
      `Paddle of workspace ${slug} has had no event for 14 days, or none since it was connected`,
      `Stripe of workspace ${slug} has had no event for 14 days, or none since it was connected`,
      `Stripe of workspace ${slug} has events that have waited for more than 10 minutes: 1`,
      `Stripe of workspace ${slug} has events of the last day that could not be processed: 1`,
    ]);
  const shown = async () => JSON.parse((await hoplog(['status', '--json'], env)).stdout).parts.connections;
  await expect.poll(shown, EACH_SECOND).toMatchObject({
    ok: true,
    isWarning: true,
    detail: expect.stringContaining('wrong signature'),
  });
});

test('tiers that connect to PostgreSQL as the owner of the tables', async () => {
  const { databaseUrl, databaseOwnerUrl, clickhouseUrl, clickhouseDatabase } = stores;
  const env = { CLICKHOUSE_URL: clickhouseUrl, CLICKHOUSE_DATABASE: clickhouseDatabase };
  await expectFound('rights', /as hoplog_test_owner, which owns the tables/, {
    ...env,
    DATABASE_URL: databaseOwnerUrl,
  });
  const { wrong } = await examine({ ...env, DATABASE_URL: databaseUrl });
  expect(wrong.filter(({ check }) => check === 'rights')).toEqual([]);
});

test.skipIf(!HAS_PGBOUNCER)('a pooler in transaction mode without an address past it', async () => {
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = stores;
  const pooler = await startPgBouncer({ urls: [databaseUrl] });
  const env = {
    DATABASE_URL: pooler.through(databaseUrl),
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouseDatabase,
  };
  try {
    await expectFound('pooler', /DATABASE_URL is a pooler in transaction mode/, env);
    await expectFound('pooler', /DATABASE_DIRECT_URL is a pooler in transaction mode/, {
      ...env,
      DATABASE_DIRECT_URL: `${env.DATABASE_URL}?application_name=x`,
    });
    // A test's database is a copy, without the limit that a migration gives its role.
    const { wrong } = await examine({ ...env, DATABASE_DIRECT_URL: databaseUrl });
    expect(wrong.filter(({ check }) => check === 'pooler')).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('has no statement_timeout') },
    ]);
  } finally {
    await pooler.stop();
  }
});

test('no backups, backups in a place that cannot be read, and old ones', async () => {
  const backups = join(directory, 'backups');
  const { wrong } = await examine({});
  expect(wrong.map(({ message }) => message)).toContain('BACKUP_TO is empty: no backups are known');
  await expectFound('backups', /has no complete backup/, { BACKUP_TO: backups });
  await expectFound('backups', /cannot read/, { BACKUP_TO: 's3://backups' });
  mkdirSync(join(backups, 'backups'), { recursive: true });
  writeFileSync(join(backups, 'backups', '2026-01-01T00-00-00Z.json'), '');
  await expectFound('backups', /hours old/, { BACKUP_TO: backups });
  const ofNow = `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z.json`;
  writeFileSync(join(backups, 'backups', ofNow), '');
  const later = await examine({ BACKUP_TO: backups });
  expect(later.wrong.filter(({ check }) => check === 'backups')).toEqual([]);
  expect(readdirSync(backups)).toEqual(['backups']);
  const file = join(directory, 'file');
  writeFileSync(file, '');
  await expectFound('backups', /cannot read BACKUP_TO=.*ENOTDIR/, { BACKUP_TO: file });
});

test('a disk that is full, one without inodes, and one that is read-only, also below the backups', {
  timeout: 300_000,
}, async (context) => {
  context.skip(!canMount(), 'needs root and loop devices');
  chmodSync(directory, 0o755);
  const disk = mountSmallDisk(directory, 64 * 2 ** 20, 256);
  try {
    await expectFound('disk', /GiB free/, { DATA_DIR: disk.path });
    const backups = join(disk.path, 'backups');
    mkdirSync(join(backups, 'backups'), { recursive: true });
    writeFileSync(join(backups, 'backups', '2026-01-01T00-00-00Z.json'), '');
    disk.takeInodes();
    await expectFound('disk', / has 0 of \d+ inodes free/, { DATA_DIR: disk.path });
    disk.breakDown();
    await expectFound('disk', /cannot write .*\(EROFS\)/, { DATA_DIR: disk.path });
    await expectFound('backups', /cannot write to BACKUP_TO=.*EROFS/, { BACKUP_TO: backups });
  } finally {
    disk.remove();
  }
});

test('a disk whose sync is slow', async () => {
  const [source, library] = [join(directory, 'slow-sync.c'), join(directory, 'slow-sync.so')];
  writeFileSync(
    source,
    '#include <unistd.h>\nint fdatasync(int file) { (void)file; return usleep(25000); }\n',
  );
  execFileSync('gcc', ['-shared', '-fPIC', '-o', library, source]);
  await expectFound('disk', /^a sync takes \d+\.\d ms/, { LD_PRELOAD: library });
});

test('a clock that nothing synchronizes', async () => {
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'timedatectl'), '#!/bin/sh\necho no\n', { mode: 0o755 });
  await expectFound('clock', /the system does not synchronize its clock/, {
    PATH: `${bin}:${process.env.PATH}`,
  });
});

test('too little memory', async (context) => {
  context.skip(!canLimitMemory(), 'needs root and control groups of memory');
  const group = makeMemoryGroup(512 * 2 ** 20);
  try {
    await expectFound('memory', /^0\.5 GiB, /, {}, group.as);
  } finally {
    group.remove();
  }
});
