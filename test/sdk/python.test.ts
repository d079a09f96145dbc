import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { installPythonSdk, NO_PYTHON, PYTHON } from './packed.ts';

const run = promisify(execFile);
const SDK = join(import.meta.dirname, '../../sdk/python');

test('the wheel of the Python SDK passes its own tests, and the checks of its types', async ({ skip }) => {
  skip(NO_PYTHON !== null, NO_PYTHON ?? '');
  const folder = mkdtempSync(join(tmpdir(), 'hoplog-wheel-'));
  try {
    const { env } = await installPythonSdk(folder);
    // Away from the sources, so that the tests import what is installed.
    cpSync(join(SDK, 'tests'), join(folder, 'tests'), { recursive: true });
    const options = { cwd: folder, env: { ...process.env, ...env } };
    const tests = run(PYTHON, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'], options);
    // The oldest Python that it may run on.
    const cache = ['--cache-dir', join(folder, 'cache')];
    const checks = run(
      PYTHON,
      ['-m', 'mypy', '--strict', '--python-version', '3.10', ...cache, '-p', 'hoplog'],
      options,
    );
    const [tested, checked] = await Promise.all([tests, checks]);
    expect(tested.stdout).toMatch(/^\d{2} passed/m);
    expect(checked.stdout).toContain('no issues found');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
