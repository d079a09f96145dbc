import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Command, commandAs } from '../cli/embedded/unprivileged.ts';
import { makeLink, untilClicks } from './support/first-click.ts';
import { CHECKOUT, EACH_SECOND, hoplog } from './support/hoplog.ts';
import { type ListeningSocket, listeningSockets } from './support/listening-sockets.ts';
import { type ServedWorkspace, servedWorkspace } from './support/shared-service.ts';
import type { Tried } from './support/stranger.ts';
import { strangerQueries } from './support/stranger-attempts.ts';
import { visitNew } from './support/visitors.ts';

const SECRET = 'only who started Hoplog reads this';
const STRANGER = join(CHECKOUT, 'test', 'support', 'stranger.ts');

let directory: string;
let served: ServedWorkspace;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-local-users-'));
  served = await servedWorkspace();
});

afterAll(async () => {
  await served?.close();
  rmSync(directory, { recursive: true, force: true });
});

function otherUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Another user where this run can switch to one; otherwise another program of the same user. */
function stranger(): Command {
  if (process.getuid?.() !== 0) return { file: process.execPath, args: [], identity: {} };
  return commandAs(otherUser(), process.execPath, [CHECKOUT]);
}

async function tryAsStranger(ports: number[], queries: string[]): Promise<Tried> {
  const { file, args, identity } = stranger();
  const child = spawn(file, [...args, '--disable-warning=ExperimentalWarning', STRANGER], {
    ...identity,
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify({ ports, user: 'hoplog', queries }));
  return JSON.parse(await text(child.stdout)) as Tried;
}

const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));

function tcpPorts(pid: number, sockets: ListeningSocket[]): number[] {
  return sockets.filter((socket) => socket.pid === pid).map(({ address }) => portOf(address));
}

test('another user of the machine gets nothing from any port of npm start, which continues to serve its own user', async () => {
  const { service, dataDir, pid } = served;
  const key = service.demo.secret_key;
  const secret = join(directory, 'secret.txt');
  writeFileSync(secret, SECRET, { mode: 0o600 });

  const sockets = listeningSockets(pid);
  for (const { address } of sockets) expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  const { databaseUrl, clickhouseUrl } = JSON.parse(
    readFileSync(join(dataDir, 'run', 'supervisor.json'), 'utf8'),
  ) as Record<'databaseUrl' | 'clickhouseUrl', string>;
  const clickhousePort = portOf(new URL(clickhouseUrl).host);
  const postgresPort = portOf(new URL(databaseUrl).host);
  const pidOf = (port: number) => sockets.find(({ address }) => portOf(address) === port)?.pid ?? 0;
  // Each port has one protocol only.
  expect(tcpPorts(pidOf(clickhousePort), sockets)).toEqual([clickhousePort]);
  expect(tcpPorts(pidOf(postgresPort), sockets)).toEqual([postgresPort]);
  // Redirects, API, the two databases; metrics of the supervisor and of the three tiers.
  const ports = [...new Set(sockets.map(({ address }) => portOf(address)))];
  expect(ports).toHaveLength(8);

  const others = ports.filter((port) => port !== clickhousePort);
  const [atClickHouse, elsewhere] = await Promise.all([
    tryAsStranger([clickhousePort], strangerQueries(secret, join(directory, 'written.txt'))),
    tryAsStranger(others, [`SELECT file('${secret}')`]),
  ]);
  expect(atClickHouse.uid === 0).toBe(false);
  const statuses = new Set(atClickHouse.outcomes[clickhousePort]?.map(({ status }) => status));
  expect([...statuses]).toEqual([404]);
  expect(JSON.stringify([atClickHouse, elsewhere])).not.toContain(SECRET);
  const passwords = [clickhouseUrl, databaseUrl].map((url) => new URL(url).password);
  for (const password of passwords) expect(JSON.stringify([atClickHouse, elsewhere])).not.toContain(password);

  const link = await makeLink(service, key, 'own');
  await visitNew(link.short_url);
  expect(await untilClicks(service, key, link, 1)).toHaveLength(1);
  const status = () => hoplog(['status'], { DATA_DIR: dataDir });
  await expect.poll(status, EACH_SECOND).toMatchObject({ status: 0 });
});

test("another user of the machine reads no secret from files, command lines or environments of npm start's processes", async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, 'this run cannot become another user');
  const { dataDir } = served;
  const pids = [...new Set(listeningSockets(served.pid).map(({ pid }) => pid))];
  const { uid, gid } = otherUser();
  const become = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const asOtherUser = (...command: string[]) =>
    execFileSync('setpriv', [...become, 'sh', '-c', '"$@" 2>&1; true', 'sh', ...command], {
      encoding: 'utf8',
    });
  const passwords = ['postgres.password', 'clickhouse/password'].map((name) =>
    readFileSync(join(dataDir, name), 'utf8').trim(),
  );
  const owned = ['postgres.password', 'clickhouse/password', 'clickhouse/users.xml', 'clickhouse/config.xml'];
  const files = [...owned, 'run/supervisor.json', 'run/demo.json', 'postgres/pg_hba.conf'];
  const seen = [
    asOtherUser('cat', ...files.map((name) => join(dataDir, name))),
    asOtherUser('find', dataDir),
    ...pids.map((pid) => asOtherUser('cat', `/proc/${pid}/cmdline`, `/proc/${pid}/environ`)),
  ].join('\n');
  expect(seen).toContain('Permission denied');
  expect(seen).toContain('clickhouse-child');
  for (const password of passwords) expect(seen).not.toContain(password);
});
