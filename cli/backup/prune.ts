import type { FileTarget } from '../../core/file-targets/target.ts';
import { listBackups, type Manifest, readManifest, removeManifest } from './manifest.ts';
import { objectKeys, storedObjects } from './objects.ts';

/** A younger object may belong to a backup in progress. */
const YOUNG_MS = 24 * 3_600_000;

/**
 * Removes all but the newest backups, then the objects that no backup names, those of interrupted backups included.
 *
 * @returns the names of the removed backups
 */
export async function pruneBackups(target: FileTarget, keep: number): Promise<string[]> {
  const names = await listBackups(target);
  const old = names.slice(0, Math.max(0, names.length - keep));
  const manifests = new Map<string, Manifest>();
  // Reads all manifests before the first removal: the objects of an unreadable one would look unused.
  for (const name of names) manifests.set(name, await readManifest(target, name));
  const [ofKept, ofOld] = [new Set<string>(), new Set<string>()];
  for (const [name, { bundles }] of manifests) {
    for (const key of objectKeys(bundles)) (old.includes(name) ? ofOld : ofKept).add(key);
  }
  for (const name of old) await removeManifest(target, name);
  const youngest = Date.now() - YOUNG_MS;
  for (const { key, modifiedMs } of await storedObjects(target)) {
    if (!ofKept.has(key) && (ofOld.has(key) || modifiedMs < youngest)) await target.remove(key);
  }
  return old;
}
