import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scratchInMemory } from './scratch.ts';

let memory: string;

beforeEach(() => {
  memory = mkdtempSync(join(tmpdir(), 'hoplog-scratch-'));
});
afterEach(() => rmSync(memory, { recursive: true, force: true }));

test('a run has a directory of its own, and removes it', () => {
  const one = scratchInMemory({}, memory, 1);
  const two = scratchInMemory({}, memory, 1);
  expect(one?.directory).not.toBe(two?.directory);
  one?.remove();
  expect([one, two].map((scratch) => existsSync(scratch?.directory ?? ''))).toEqual([false, true]);
});

test('leftovers of a killed run are removed, directories of another run are not', () => {
  const { pid: gone } = spawnSync('true');
  const [left, used] = [gone, process.pid].map((pid) => join(memory, `hoplog-tests-${pid}-abc`));
  for (const directory of [left, used]) mkdirSync(directory ?? '');
  mkdirSync(join(memory, 'of-somebody-else'));
  scratchInMemory({}, memory, 1);
  expect(existsSync(left ?? '')).toBe(false);
  expect(existsSync(used ?? '')).toBe(true);
  expect(existsSync(join(memory, 'of-somebody-else'))).toBe(true);
});

test('there is no directory without enough memory, or when the run has a TMPDIR', () => {
  expect(scratchInMemory({}, memory, 2 ** 60)).toBeNull();
  expect(scratchInMemory({}, join(memory, 'missing'), 1)).toBeNull();
  expect(scratchInMemory({ TMPDIR: '/somewhere' }, memory, 1)).toBeNull();
});
