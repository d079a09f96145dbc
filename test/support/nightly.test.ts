import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The configuration of a nested run, with the tags and the reporter of this one. */
const CONFIG = `
import { TAGS } from ${JSON.stringify(`${ROOT}test/support/nightly.ts`)};
export default { test: { tags: TAGS, reporters: [${JSON.stringify(`${ROOT}test/support/skip-reporter.ts`)}] } };`;

const TESTS = `
import { beforeAll, describe, test } from 'vitest';
const prints = (text) => () => process.stdout.write('<' + text + '>');
test('always', prints('always'));
test.for([1, 2])('row %s', { tags: 'nightly' }, (row) => prints('row ' + row)());
describe('a block', { tags: 'nightly' }, () => {
  beforeAll(prints('its start'));
  test('in it', prints('in it'));
});
test('lacking', { tags: 'nightly' }, ({ skip }) => {
  skip(process.env.LACKS !== undefined, 'no ' + process.env.LACKS);
  prints('with a broker')();
});`;

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-nightly-'));
  symlinkSync(`${ROOT}node_modules`, join(directory, 'node_modules'));
  writeFileSync(join(directory, 'vitest.config.ts'), CONFIG);
  writeFileSync(join(directory, 'some.test.ts'), TESTS);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Returns whether a run with these settings passes, what the tests print, and the lines of the report. */
function run(env: NodeJS.ProcessEnv): Promise<{ passed: boolean; printed: string[]; report: string[] }> {
  const arguments_ = [
    '--disable-warning=ExperimentalWarning',
    `${ROOT}node_modules/vitest/vitest.mjs`,
    'run',
  ];
  const { NIGHTLY: _, CI: __, ...inherited } = process.env;
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      arguments_,
      { cwd: directory, env: { ...inherited, ...env } },
      (error, stdout) =>
        resolve({
          passed: error === null,
          printed: Array.from(stdout.matchAll(/<(.+?)>/g), ([, text = '']) => text).sort(),
          report: stdout.split('\n').filter((line) => /nightly|skipped|Skipped/.test(line)),
        }),
    ),
  );
}

test('a test of the nightly run is left to it, which is said and fails no run; that run plays it, and fails for a skip', async () => {
  const [usual, nightly, lacking] = await Promise.all([
    run({ CI: 'true' }),
    run({ CI: 'true', NIGHTLY: 'true' }),
    run({ CI: 'true', NIGHTLY: 'true', LACKS: 'a broker' }),
  ]);
  expect(usual).toEqual({
    passed: true,
    printed: ['always'],
    report: ['Left to the nightly run: 4 tests in 1 file; NIGHTLY=true runs them.'],
  });
  const printed = ['always', 'in it', 'its start', 'row 1', 'row 2'];
  expect(nightly).toEqual({ passed: true, printed: [...printed, 'with a broker'], report: [] });
  expect(lacking).toEqual({
    passed: false,
    printed,
    report: ['Skipped 1 of the tests:', 'With CI=true a skipped test is a failure.'],
  });
});
