import { existsSync, readFileSync } from 'node:fs';
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
