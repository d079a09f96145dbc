import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { killed, runningProgram, temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { recordOf, stillRuns } from '../processes/identity.ts';
import { childRecords, endLeftovers } from './records.ts';

const log = silentLogger();
let directory: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => directory.remove());

test('a child that a killed supervisor left behind is asked to end', async () => {
  const child = await runningProgram(
    "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000)",
  );
  childRecords(directory.path).write('ingest', child.pid);
  await endLeftovers(directory.path, log);
  await killed(child);
  expect(child.exitCode).toBe(7);
  expect(readdirSync(directory.path)).toEqual([]);
});

test('one that does not end by itself is killed', async () => {
  const child = await runningProgram("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)");
  childRecords(directory.path).write('workers', child.pid);
  await endLeftovers(directory.path, log, 200);
  await killed(child);
  expect(child.signalCode).toBe('SIGKILL');
});

test('another process under the number of a dead child is left alone', async () => {
  const bystander = await runningProgram('setInterval(() => {}, 1000)');
  const record = recordOf(bystander.pid);
  if (record === null) throw new Error('the bystander does not run');
  writeFileSync(
    join(directory.path, 'api.child.json'),
    JSON.stringify({ pid: bystander.pid, started: 'another time' }),
  );
  await endLeftovers(directory.path, log);
  expect(stillRuns(record)).toBe(true);
  await killed(bystander);
});

test('a child that ended in order leaves no record', async () => {
  const records = childRecords(directory.path);
  records.write('api', process.pid);
  records.remove('api');
  expect(readdirSync(directory.path)).toEqual([]);
});
