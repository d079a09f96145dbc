import { expect } from 'vitest';
import { advanceStreams, registerStream } from '../sql/event-log/streams.ts';
import { storesTest as test } from './support/fixtures.ts';
import { operator } from './support/hoplog.ts';

type Listed = { name: string; state: string; behind_seconds: number; in_settings: boolean };

test('commands of replicas say what is wrong, and status names one that is not read', async ({ stores }) => {
  const cli = operator(stores);
  const { pool } = stores;
  const stream = await registerStream(pool, 'ingest-0');
  await advanceStreams(pool, [{ ...stream, highWater: 0n, visibleBefore: Date.now() * 1_000 }]);
  const list = async () => (await cli.json<{ replicas: Listed[] }>('replica', 'list')).replicas;
  const fails = async (...args: string[]) => {
    const { status, stderr } = await cli.run('replica', ...args);
    return [status, stderr];
  };
  expect(await list()).toEqual([
    expect.objectContaining({ name: 'main', state: 'read', behind_seconds: 0, in_settings: true }),
  ]);
  expect(await cli.json('replica', 'add', 'main')).toEqual({ added: 'main', isNew: false });
  expect(await cli.json('replica', 'use', 'main')).toEqual({ used: 'main' });
  expect(await cli.json('replica', 'drop', 'second')).toEqual({ dropped: 'second', existed: false });
  for (const [args, status, message] of [
    [['add', 'second'], 1, 'CLICKHOUSE_REPLICAS has no second: it names main'],
    [['fill', 'second'], 1, 'CLICKHOUSE_REPLICAS has no second'],
    [['fill', 'main', '--from', 'main'], 1, "a replica can't be filled from itself"],
    [['use', 'second'], 1, 'there is no replica second: run "hoplog replica add second" first'],
    [['drop', 'main'], 1, 'main is the only replica that is used'],
    [['compare', 'main', '--with', 'main'], 1, "a replica can't be compared with itself"],
    [['compare', 'main', '--range', 'today'], 2, 'must be two times with ".." between'],
  ] as const)
    expect(await fails(...args)).toEqual([status, expect.stringContaining(message)]);

  await pool.query(`INSERT INTO replicas (name) VALUES ('second')`);
  expect((await list()).map(({ name, state, in_settings: named }) => [name, state, named])).toEqual([
    ['main', 'read', true],
    ['second', 'not used', false],
  ]);
  const { stdout } = await cli.run('status');
  expect(stdout).toMatch(/^replicas +up, WARNING +second: not used; see docs\/operations\/replicas\.md$/m);
  await pool.query(`INSERT INTO replica_repairs (replica, work, subject) VALUES ('second', 'orders', '1')`);
  expect(await fails('use', 'second')).toEqual([1, expect.stringContaining('second has missed 1 writes')]);
  await pool.query(`UPDATE replica_repairs SET work = 'fill', subject = 'all'`);
  expect(await fails('use', 'second')).toEqual([1, expect.stringContaining('second is not filled')]);
  expect(await cli.json('replica', 'drop', 'second')).toEqual({ dropped: 'second', existed: true });
});
