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

test('a run has a directory of its own, and takes it away', () => {
  const one = scratchInMemory({}, memory, 1);
  const two = scratchInMemory({}, memory, 1);
  expect(one?.directory).not.toBe(two?.directory);
  one?.remove();
  expect([one, two].map((scratch) => existsSync(scratch?.directory ?? ''))).toEqual([false, true]);
});

test('what a killed run has left is removed, what another run uses is not', () => {
  const { pid: gone } = spawnSync('true');
  const [left, used] = [gone, process.pid].map((pid) => join(memory, `hoplog-tests-${pid}-abc`));
  for (const directory of [left, used]) mkdirSync(directory ?? '');
  mkdirSync(join(memory, 'of-somebody-else'));
  scratchInMemory({}, memory, 1);
  expect(existsSync(left ?? '')).toBe(false);
  expect(existsSync(used ?? '')).toBe(true);
  expect(existsSync(join(memory, 'of-somebody-else'))).toBe(true);
});

test('there is none without the memory, and where the run was told a place', () => {
  expect(scratchInMemory({}, memory, 2 ** 60)).toBeNull();
  expect(scratchInMemory({}, join(memory, 'missing'), 1)).toBeNull();
  expect(scratchInMemory({ TMPDIR: '/somewhere' }, memory, 1)).toBeNull();
});
