import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { ROOT, readComposeFile } from './compose-file.ts';

const text = readFileSync(`${ROOT}Dockerfile`, 'utf8');
const lines = text.replaceAll('\\\n', ' ').split('\n');
const instructions = (name: string) =>
  lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1).trim());

test('the Dockerfile passes its linter', () => {
  const problems = validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`);
  expect(problems).toEqual([]);
});

test('its base is pinned to the Node that the packages bring, and fetches nothing by address', () => {
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const stages = new Set(instructions('FROM').map((from) => from.split(' AS ')[1]));
  const bases = instructions('FROM')
    .map((from) => from.split(' ')[0])
    .filter((base) => !stages.has(base));
  expect(new Set(bases)).toEqual(new Set([`node:${dependencies.node}-bookworm-slim`]));
  expect(instructions('ADD')).toEqual([]);
});

test('it runs as an ordinary user, with a directory for data and a program to start', () => {
  expect(instructions('USER')).toEqual(['node']);
  expect(lines.indexOf('USER node')).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith('RUN ')));
  expect(instructions('VOLUME')).toEqual(['/data']);
  expect(JSON.parse(instructions('ENTRYPOINT')[0] ?? '')[0]).toBe('node');
});

test('what it copies exists, is let through to the build, and holds every command of the compose file', () => {
  const allowed = readFileSync(`${ROOT}.dockerignore`, 'utf8').split('\n');
  const copied = instructions('COPY')
    .filter((copy) => !copy.startsWith('--from'))
    .flatMap((copy) => copy.split(' ').slice(0, -1));
  for (const path of copied) {
    expect(existsSync(`${ROOT}${path}`), path).toBe(true);
    expect(allowed, path).toContain(`!${path}`);
  }
  for (const [name, { build, command }] of Object.entries(readComposeFile().services)) {
    if (!build) continue;
    const [script = ''] = command ?? [];
    expect(existsSync(`${ROOT}${script}`), name).toBe(true);
    expect(copied, name).toContain(script.split('/')[0]);
  }
});

test('the stage that builds what browsers load has all that the build needs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-image-'));
  const stages = text.split(/^(?=FROM )/m);
  const steps = ['packages', 'web'].flatMap((name) => {
    const stage = stages.find((one) => one.split('\n')[0]?.endsWith(` AS ${name}`)) ?? '';
    return stage.split('\n').filter((line) => line.startsWith('COPY '));
  });
  try {
    for (const step of steps) {
      const paths = step.split(' ').slice(1, -1);
      for (const path of paths) {
        const isSource = (source: string) => source !== join(ROOT, 'web/dist');
        cpSync(join(ROOT, path), join(directory, path), { recursive: true, filter: isSource });
      }
    }
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    const build = lines.find((line) => line.startsWith('RUN node '))?.split(' ') ?? [];
    execFileSync(process.execPath, build.slice(2), { cwd: directory, stdio: 'pipe' });
    for (const file of ['pixel.js', 'embed.js', 'embed-page.js', 'console/manifest.json']) {
      expect(existsSync(join(directory, 'web/dist', file)), file).toBe(true);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
