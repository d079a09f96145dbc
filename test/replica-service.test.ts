import { afterAll, beforeAll, expect, test } from 'vitest';
import { follow, type Link, makeLink, untilClicks } from './support/first-click.ts';
import { EACH_SECOND, hoplog } from './support/hoplog.ts';
import { NIGHTLY } from './support/nightly.ts';
import { type OwnClickHouse, ownClickHouse } from './support/own-clickhouse.ts';
import { temporaryDirectory } from './support/process-fixtures.ts';
import { type Service, startService } from './support/service.ts';

type Listed = { name: string; state: string; missed_writes: number };

/** For jobs of workers that repair a replica. */
const PATIENT = { timeout: 90_000, ...EACH_SECOND };

const directory = temporaryDirectory();
let main: OwnClickHouse;
let second: OwnClickHouse;
let env: NodeJS.ProcessEnv;
let service: Service;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
  env = {
    DATA_DIR: directory.path,
    CLICKHOUSE_URL: main.url,
    CLICKHOUSE_REPLICAS: 'main,second',
    CLICKHOUSE_SECOND_URL: second.url,
  };
  service = await startService({ dataDir: directory.path, env });
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([main.close(), second.close()]);
  directory.remove();
});

const run = (...args: string[]) => hoplog(args, env);

async function json<T>(...args: string[]): Promise<T> {
  const { status, stdout, stderr } = await run(...args, '--json');
  expect([args, status, stderr]).toEqual([args, 0, '']);
  return JSON.parse(stdout) as T;
}

const states = async () =>
  (await json<{ replicas: Listed[] }>('replica', 'list')).replicas.map(
    ({ name, state }) => `${name}: ${state}`,
  );

test('commands add, fill, and use a replica beside a service, which goes on without either of the two', async () => {
  const key = service.demo?.secret_key ?? '';
  const link: Link = await makeLink(service, key, 'launch');
  let followed = 0;
  async function click(): Promise<void> {
    await follow(link);
    followed += 1;
    await untilClicks(service, key, link, followed);
  }
  await click();
  expect(await states()).toEqual(['main: read']);
  expect(await json('replica', 'add', 'second')).toEqual({ added: 'second', isNew: true });
  expect(await json('replica', 'add', 'second')).toEqual({ added: 'second', isNew: false });
  expect(await states()).toEqual(['main: read', 'second: filling']);
  await click();
  expect(await json('replica', 'fill', 'second', '--from', 'main')).toMatchObject({
    filled: 'second',
    from: 'main',
    copied: expect.arrayContaining([{ table: 'clicks', rows: 1 }]),
  });
  await expect.poll(states, PATIENT).toEqual(['main: read', 'second: not used']);
  expect(await json('replica', 'use', 'second')).toEqual({ used: 'second' });
  expect(await states()).toEqual(['main: read', 'second: read']);

  const killed = [[main, 'main'] as const, ...(NIGHTLY ? [[second, 'second'] as const] : [])];
  for (const [server, name] of killed) {
    const other = name === 'main' ? 'second' : 'main';
    await server.kill();
    await click();
    const { parts } = JSON.parse((await run('status', '--json')).stdout);
    expect(parts.clickhouse).toMatchObject({ ok: true, isWarning: true });
    expect(parts.clickhouse.detail).toContain(`${other}: version`);
    expect(await run('migrate')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`failed to migrate ${name}`),
    });
    expect((await run('analyst', 'list')).stderr).toContain(`no response from ${name}`);
    await server.start();
    await expect.poll(states, PATIENT).toEqual(['main: read', 'second: read']);
  }
  expect(await json('migrate')).toMatchObject({ applied: { clickhouse: [], 'clickhouse second': [] } });
  await expect
    .poll(async () => (await run('replica', 'compare', 'second', '--with', 'main')).stdout, PATIENT)
    .toMatch(/^second and main have the same rows/);
  const stored = await main.hash('clicks');
  expect(stored.rows).toBe(followed);
  expect(await second.hash('clicks')).toEqual(stored);
});
