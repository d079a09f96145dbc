import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { killed, runningProgram } from '../../test/support/process-fixtures.ts';
import { recordOf } from '../processes/identity.ts';
import { AlreadyRunning, takeLock } from './lock.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-lock-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const path = () => join(directory, 'supervisor.lock');

test('a second start on the same directory is refused and told who runs', async () => {
  const lock = await takeLock(directory);
  await expect(takeLock(directory)).rejects.toThrow(AlreadyRunning);
  await expect(takeLock(directory)).rejects.toThrow(String(process.pid));
  lock.release();
});

test('a released lock can be taken again and leaves no file behind', async () => {
  (await takeLock(directory)).release();
  (await takeLock(directory)).release();
  expect(readdirSync(directory)).toEqual([]);
});

test('the lock of a killed process is taken over', async () => {
  const holder = await runningProgram('setInterval(() => {}, 1000)');
  const record = JSON.stringify(recordOf(holder.pid));
  writeFileSync(path(), record);
  await expect(takeLock(directory)).rejects.toThrow(AlreadyRunning);
  await killed(holder);
  (await takeLock(directory)).release();
});

test('a process that got the number of a dead holder holds nothing', async () => {
  writeFileSync(path(), JSON.stringify({ pid: process.pid, started: 'another time' }));
  (await takeLock(directory)).release();
});

test('a lock file that cannot be read as one is taken over', async () => {
  writeFileSync(path(), '{"pid":');
  (await takeLock(directory)).release();
});

test('a start waits for one that is stopping', async () => {
  const stopping = await takeLock(directory);
  stopping.markStopping();
  const next = takeLock(directory);
  setTimeout(() => stopping.release(), 200);
  (await next).release();
});

test('a start does not wait for ever for one that is stopping', async () => {
  const stopping = await takeLock(directory);
  stopping.markStopping();
  await expect(takeLock(directory, 100)).rejects.toThrow(AlreadyRunning);
  stopping.release();
});

test('of many starts on a stale lock exactly one gets it', async () => {
  writeFileSync(path(), JSON.stringify({ pid: process.pid, started: 'another time' }));
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(directory)));
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
});
