import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { folderTarget } from '../../core/file-targets/folder-target.ts';
import type { FileTarget } from '../../core/file-targets/target.ts';
import { temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { type Bundle, listBackups, type Manifest, writeManifest } from './manifest.ts';
import { objectKeys, openObjects, storedObjects } from './objects.ts';
import { pruneBackups } from './prune.ts';
import { verifyBackup } from './verify.ts';

const NAMES = ['2026-11-24T03-00-00Z', '2026-11-25T03-00-00Z', '2026-11-26T03-00-00Z'] as const;

let directory: ReturnType<typeof temporaryDirectory>;
let target: FileTarget;

beforeEach(() => {
  directory = temporaryDirectory();
  target = folderTarget(join(directory.path, 'backups'));
});
afterEach(() => directory.remove());

/** Stores each text as a bundle of its own. */
async function store(texts: readonly string[]): Promise<Bundle[]> {
  const objects = await openObjects(target);
  return Promise.all(
    texts.map(async (text) => {
      const source = join(directory.path, text);
      writeFileSync(source, text);
      return { key: null, ...(await objects.store([{ path: text, source }])) };
    }),
  );
}

async function backUp(name: string, texts: readonly string[]): Promise<Manifest> {
  const at = new Date().toISOString();
  const manifest: Manifest = {
    format: 1,
    name,
    version: '0.1.0',
    postgres: '18',
    deployment: '1',
    began_at: at,
    point_at: at,
    directories: [],
    bundles: await store(texts),
  };
  await writeManifest(target, manifest);
  return manifest;
}

const keysOf = (...bundles: Bundle[][]) => [...objectKeys(bundles.flat())].sort();
const storedKeys = async () => (await storedObjects(target)).map(({ key }) => key).sort();

test('removes the objects of old backups that no kept one has, and those of interrupted ones after a day', async () => {
  const [old, kept, newest] = [
    await backUp(NAMES[0], ['same', 'of the first']),
    await backUp(NAMES[1], ['same', 'of the second']),
    await backUp(NAMES[2], ['same', 'of the third']),
  ];
  const [inProgress, interrupted] = [await store(['in progress']), await store(['interrupted'])];
  const yesterday = Date.now() / 1_000 - 25 * 3_600;
  for (const key of keysOf(interrupted)) utimesSync(join(target.name, key), yesterday, yesterday);
  const all = [old.bundles, kept.bundles, newest.bundles, inProgress];
  expect(await storedKeys()).toEqual(keysOf(...all, interrupted));

  expect(await pruneBackups(target, 3)).toEqual([]);
  expect(await storedKeys()).toEqual(keysOf(...all));
  expect(await pruneBackups(target, 2)).toEqual([NAMES[0]]);
  expect(await listBackups(target)).toEqual([NAMES[1], NAMES[2]]);
  expect(await storedKeys()).toEqual(keysOf(kept.bundles, newest.bundles, inProgress));
  for (const one of [kept, newest]) expect(await verifyBackup(target, one)).toEqual([]);
});

test('removes nothing while a manifest is damaged, whose objects would look unused', async () => {
  for (const name of NAMES) await backUp(name, [`of ${name}`]);
  writeFileSync(join(target.name, 'backups', `${NAMES[2]}.json`), 'damaged');
  const before = await storedKeys();
  await expect(pruneBackups(target, 1)).rejects.toThrow(`the manifest of backup ${NAMES[2]} is damaged`);
  expect(await listBackups(target)).toEqual(NAMES);
  expect(await storedKeys()).toEqual(before);
});
