import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './docs/markdown.ts';

/** Installs a package that needs a newer Node than this one, and returns what npm printed. */
function install(directory: string): string {
  // Settings of the npm that runs the tests would come before those of the file.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)));
  const { status, stdout, stderr } = spawnSync('npm', ['install', '--offline', '--no-package-lock'], {
    cwd: directory,
    encoding: 'utf8',
    env,
  });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
  return `${stdout}${stderr}`;
}

test('npm prints no list of packages that need a newer Node than that of the machine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-install-'));
  try {
    mkdirSync(join(directory, 'newer'));
    const needs = { name: 'newer', version: '1.0.0', engines: { node: '>=999' } };
    writeFileSync(join(directory, 'newer', 'package.json'), JSON.stringify(needs));
    writeFileSync(
      join(directory, 'package.json'),
      JSON.stringify({ name: 'site', version: '1.0.0', dependencies: { newer: 'file:newer' } }),
    );
    expect(install(directory)).toContain('EBADENGINE');
    copyFileSync(join(ROOT, '.npmrc'), join(directory, '.npmrc'));
    expect(install(directory)).not.toContain('EBADENGINE');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
