import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, readDocument } from './docs/markdown.ts';
import { accountFor } from './faults/accounting.ts';
import { clickLinks, firstVisits } from './support/clicker.ts';
import { type Link, makeLink } from './support/first-click.ts';
import { type OwnClickHouse, ownClickHouse } from './support/own-clickhouse.ts';
import { temporaryDirectory } from './support/process-fixtures.ts';
import { PROGRAM_ENV, programArguments } from './support/program.ts';
import { type Service, startService } from './support/service.ts';

/** The blocks of the page, in order. */
const [lost = '', newer = '', sorted = '', back = ''] = blocksOf(
  readDocument('docs/operations/change-clickhouse.md'),
  'sh',
);
const shell = promisify(execFile);

const directory = temporaryDirectory();
let main: OwnClickHouse;
let second: OwnClickHouse;
let env: NodeJS.ProcessEnv;
let service: Service;
let key: string;
let link: Link;
/** Visitors that were redirected. */
const answered: string[] = [];

beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
  env = {
    DATA_DIR: directory.path,
    CLICKHOUSE_URL: main.url,
    CLICKHOUSE_REPLICAS: 'main,second',
    CLICKHOUSE_SECOND_URL: second.url,
  };
  service = await startService({ dataDir: directory.path, env });
  key = service.demo?.secret_key ?? '';
  link = await makeLink(service, key, 'launch');
  answered.push(...(await firstVisits([link.short_url])));
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([main.close(), second.close()]);
  directory.remove();
});

/** Pastes a block of the page in a shell that has the command. @returns what it prints */
async function pasted(block: string): Promise<string> {
  const command = [process.execPath, ...programArguments('hoplog')].map((word) => `'${word}'`).join(' ');
  const script = `hoplog() { ${command} "$@"; }\nsleep() { command sleep 1; }\n${block}`;
  const { stdout } = await shell('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...PROGRAM_ENV, HOME: process.env.HOME, ...env, main: main.url, second: second.url },
  });
  return stdout;
}

/** Clicks while the work runs, and then counts every click of this file. */
async function underClicks(work: () => Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const clicking = clickLinks({
    urls: [link.short_url],
    signal: ended.signal,
    connections: 2,
    paceMs: 50,
  });
  try {
    await work();
  } finally {
    ended.abort();
  }
  const clicked = await clicking;
  answered.push(...clicked.answered);
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  expect(await accountFor(service, key, answered)).toBe(answered.length);
}

/** Returns a block for `main` instead of `second`. */
const exchanged = (block: string) =>
  block.replace(/main|second/g, (name) => (name === 'main' ? 'second' : 'main'));

async function sortingKey({ clickhouse }: OwnClickHouse): Promise<string | undefined> {
  const result = await clickhouse.query({
    query: `SELECT sorting_key FROM system.tables WHERE database = currentDatabase() AND name = 'clicks'`,
    format: 'JSONEachRow',
  });
  return (await result.json<{ sorting_key: string }>())[0]?.sorting_key;
}

const SAME = /(second and main|main and second) have the same rows/;

test('the page changes each replica under clicks: a lost host, a restarted server, a sort order, and back', {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  // A new replica begins as a lost one does.
  await underClicks(async () => expect(await pasted(lost.replace(/^.*drop.*\n/, ''))).toMatch(SAME));

  await underClicks(async () => {
    await main.kill();
    await main.start();
    await main.clickhouse.command({ query: 'DROP DATABASE hoplog SYNC' });
    expect(await pasted(exchanged(lost))).toMatch(SAME);
  });

  await underClicks(async () => {
    await second.kill();
    await second.start();
    expect(await pasted(newer)).toMatch(SAME);
  });

  await underClicks(async () => expect(await pasted(sorted)).toMatch(SAME));
  expect(await sortingKey(second)).toBe('workspace_id, channel, ts');
  await main.kill();
  // Readers have the other order alone.
  expect(await accountFor(service, key, answered)).toBe(answered.length);
  await main.start();

  await underClicks(async () => {
    await pasted(newer.replaceAll('second', 'main'));
    expect(await pasted(back)).toMatch(SAME);
  });
  expect(await sortingKey(second)).toBe('workspace_id, ts');
  const stored = await main.hash('clicks');
  expect(stored.rows).toBe(answered.length);
  expect(await second.hash('clicks')).toEqual(stored);
});
