import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../core/log.ts';
import { createLinkTable } from './table.ts';
import { createTableFiles } from './table-files.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hoplog-table-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const unfinished = () => readdirSync(dir).filter((name) => name.endsWith('.new'));

test('a snapshot that fails leaves nothing behind: the volume is the journal’s too', async () => {
  const files = createTableFiles({ dir, table: createLinkTable(), log: silentLogger() });
  await files.load();
  mkdirSync(join(dir, 'table-2.snapshot', 'in the way'), { recursive: true });
  await expect(files.writeSnapshot()).rejects.toThrow();
  expect(unfinished()).toEqual([]);
  await files.close();
});

test('what a process that was killed has left of a snapshot is removed', async () => {
  writeFileSync(join(dir, 'table-7.snapshot.new'), 'half');
  const files = createTableFiles({ dir, table: createLinkTable(), log: silentLogger() });
  expect(await files.load()).toBe(false);
  expect(unfinished()).toEqual([]);
  await files.close();
});
