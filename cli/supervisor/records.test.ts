import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { killed, runningProgram, temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { childRecords, endLeftovers } from './records.ts';

const log = silentLogger();
let directory: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => directory.remove());

test('a child of a killed supervisor gets SIGTERM', async () => {
  const child = await runningProgram(
    "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000)",
  );
  childRecords(directory.path, log).write('ingest', child.pid);
  await endLeftovers(directory.path, log, 60_000);
  await killed(child);
  expect(child.exitCode).toBe(7);
});

test('a child that ignores SIGTERM is killed', async () => {
  const child = await runningProgram("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)");
  childRecords(directory.path, log).write('workers', child.pid);
  await endLeftovers(directory.path, log, 200);
  await killed(child);
  expect(child.signalCode).toBe('SIGKILL');
});

test('another process with the pid of a dead child is not touched', async () => {
  const bystander = await runningProgram('setInterval(() => {}, 1000)');
  childRecords(directory.path, log).write('api', bystander.pid);
  const path = join(directory.path, 'api.child.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), started: 'another time' }));
  await endLeftovers(directory.path, log);
  expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  await killed(bystander);
});

test('a child of the original of a copied directory is not touched', async () => {
  const child = await runningProgram('setInterval(() => {}, 1000)');
  const original = join(directory.path, 'original');
  const copy = join(directory.path, 'copy');
  mkdirSync(original);
  childRecords(original, log).write('api', child.pid);
  cpSync(original, copy, { recursive: true, preserveTimestamps: true });
  await endLeftovers(copy, log);
  expect(child.exitCode ?? child.signalCode).toBeNull();
  // A moved directory keeps its identity.
  renameSync(original, `${original}-moved`);
  await endLeftovers(`${original}-moved`, log);
  await killed(child);
  expect(child.signalCode).toBe('SIGTERM');
});

test('the record of a child that exited cleanly is empty', async () => {
  const bystander = await runningProgram('setInterval(() => {}, 1000)');
  const records = childRecords(directory.path, log);
  records.write('api', bystander.pid);
  records.clear('api');
  await endLeftovers(directory.path, log);
  expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  await killed(bystander);
});
