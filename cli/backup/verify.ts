import type { FileTarget } from '../../core/file-targets/target.ts';
import type { Manifest, ObjectRef } from './manifest.ts';
import { readObject } from './objects.ts';
import { eachOf } from './parallel.ts';

/**
 * Reads every object of a backup and checks its content.
 *
 * @returns the error of each object that is missing or damaged
 */
export async function verifyBackup(target: FileTarget, { bundles }: Manifest): Promise<string[]> {
  const objects = new Map<string, ObjectRef>();
  for (const bundle of bundles) for (const object of bundle.objects) objects.set(object[0], object);
  const problems: string[] = [];
  await eachOf([...objects.values()], async (object) => {
    try {
      await readObject(target, object);
    } catch (error) {
      problems.push((error as Error).message);
    }
  });
  return problems.sort();
}
