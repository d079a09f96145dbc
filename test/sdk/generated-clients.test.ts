import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, expect } from 'vitest';
import { clickId } from '../../core/ids.ts';
import type { TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { storeClicks } from '../support/stored-events.ts';

/**
 * SDKs generated from the running API's document lose nothing: 2,000 clicks of one millisecond, and 400 links created
 * in one call. Cursors that a client parses as dates lose digits, and with them rows.
 */

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const tool = (name: string) => here(`../../node_modules/.bin/${name}`);
const PYTHON = here('.venv/bin/');

const CLICKS = 2_000;
const LINKS = 400;
const MILLI = 1_795_168_800_123_000_000n; // 2026-11-20T10:00:00.123Z

type Walk = { made: string[]; records: string[]; clicks: string[]; from: string; matched: boolean };

let url: string;
let folder: string;
let newestFirst: string[];

test.beforeAll(async ({ api }) => {
  url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  folder = mkdtempSync(join(tmpdir(), 'hoplog-sdk-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});
test.beforeEach(async ({ api, shop }) => {
  const stored = await storeClicks(
    api.stores,
    Array.from({ length: CLICKS }, (_, n) => ({
      workspaceId: shop.workspace.id,
      // Two streams: the same microseconds, distinguished by the last three digits.
      tsNanos: MILLI + BigInt(Math.floor(n / 2)) * 1_000n + BigInt(n % 2),
    })),
  );
  newestFirst = stored
    .map(({ tsNanos }) => tsNanos)
    .sort((a, b) => (a > b ? -1 : 1))
    .map(clickId);
});

async function runWalk(shop: TestWorkspace, command: string, args: string[]): Promise<Walk> {
  const { stdout } = await run(command, args, {
    cwd: folder,
    env: { ...process.env, API_URL: url, API_KEY: shop.secretKey },
    maxBuffer: 16 * 1_048_576,
  });
  return JSON.parse(stdout);
}

function expectWhole(walk: Walk): void {
  expect(walk.clicks).toEqual(newestFirst);
  expect(walk.made.length).toBe(LINKS);
  expect(new Set(walk.made).size).toBe(LINKS);
  expect(walk.records.length).toBe(LINKS);
  expect(walk.records.toSorted()).toEqual(walk.made.toSorted());
  expect(walk.matched).toBe(false);
  expect(Number.isNaN(Date.parse(walk.from))).toBe(false);
}

test('a TypeScript client of @hey-api/openapi-ts compiles and reads every row', async ({ shop }) => {
  const generated = join(folder, 'generated');
  await run(tool('node'), [
    '--disable-warning=ExperimentalWarning',
    `--import=${here('../../sdk/generate/typescript-5.ts')}`,
    here('generate-typescript.ts'),
    `${url}/api/v1/openapi.json`,
    generated,
  ]);
  const program = join(folder, 'walk.ts');
  copyFileSync(here('programs/walk.ts'), program);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const types = `--typeRoots ${here('../../node_modules/@types')} --types node`;
  const options = `--noEmit --strict --target es2024 --module nodenext --skipLibCheck ${types}`;
  await run(tool('tsc'), [...options.split(' '), program], { cwd: folder });
  const bundle = join(folder, 'walk.mjs');
  await build({ entryPoints: [program], outfile: bundle, bundle: true, format: 'esm', platform: 'node' });
  expectWhole(await runWalk(shop, tool('node'), [bundle]));
});

test('a Python client of openapi-python-client reads every row', { tags: 'nightly' }, async ({
  shop,
  skip,
}) => {
  const isInstalled = existsSync(join(PYTHON, 'openapi-python-client'));
  skip(
    !isInstalled,
    'no openapi-python-client: python3 -m venv test/sdk/.venv && test/sdk/.venv/bin/pip install -r test/sdk/requirements.txt',
  );
  const { stdout, stderr } = await run(join(PYTHON, 'openapi-python-client'), [
    'generate',
    ...['--url', `${url}/api/v1/openapi.json`],
    ...['--output-path', join(folder, 'hoplog_client')],
    ...['--config', here('openapi-python-client.yaml')],
    ...['--meta', 'none', '--overwrite'],
  ]);
  // The generator skips what it can't read, with a warning.
  expect(`${stdout}${stderr}`).not.toMatch(/WARNING|ERROR|Unable to|omitted/);
  copyFileSync(here('programs/walk.py'), join(folder, 'walk.py'));
  expectWhole(await runWalk(shop, join(PYTHON, 'python'), ['walk.py']));
});
