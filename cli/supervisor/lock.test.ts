import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { killed } from '../../test/support/process-fixtures.ts';
import { AlreadyRunning, takeLock } from './lock.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-lock-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Another process that holds the lock of the directory. */
async function holder(then = '') {
  const source = `const { takeLock } = await import(${JSON.stringify(new URL('./lock.ts', import.meta.url).href)});
    const lock = await takeLock(${JSON.stringify(directory)}); ${then}
    console.log('up'); setInterval(() => {}, 1000);`;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child.stdout, 'data');
  return child;
}

test('a second start on the same directory fails and names the owner', async () => {
  const lock = await takeLock(directory);
  await expect(takeLock(directory)).rejects.toThrow(AlreadyRunning);
  await expect(takeLock(directory)).rejects.toThrow(`process ${process.pid},`);
  await expect(takeLock(join(directory))).rejects.toThrow(`DATA_DIR="${tmpdir()}"`);
  lock.release();
});

test('a released lock can be taken again', async () => {
  (await takeLock(directory)).release();
  (await takeLock(directory)).release();
});

test('the lock of a killed process is free', async () => {
  const other = await holder();
  await expect(takeLock(directory)).rejects.toThrow(`process ${other.pid},`);
  await killed(other);
  (await takeLock(directory)).release();
});

test('a copy of a locked directory can be locked', async () => {
  const other = await holder();
  const copy = `${directory}-copy`;
  cpSync(directory, copy, { recursive: true });
  try {
    (await takeLock(copy)).release();
  } finally {
    rmSync(copy, { recursive: true, force: true });
    await killed(other);
  }
});

test('a start waits for one that is stopping', async () => {
  const stopping = await takeLock(directory);
  stopping.markStopping();
  const next = takeLock(directory);
  setTimeout(() => stopping.release(), 200);
  (await next).release();
});

test('a start waits only for its limit for one that is stopping', async () => {
  const stopping = await holder('lock.markStopping();');
  await expect(takeLock(directory, 100)).rejects.toThrow(AlreadyRunning);
  await killed(stopping);
});

test('exactly one of many concurrent starts gets the lock', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(directory)));
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
});
