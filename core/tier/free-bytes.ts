import { statfs } from 'node:fs/promises';

/** Returns the bytes that this process may still write on the volume of a directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
