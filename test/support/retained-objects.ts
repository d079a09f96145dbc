import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const READS = 20_000;
/** Allowed growth of the heap for other reasons, such as compiled code. A leak retains at least one object a read. */
export const STRAY_OBJECTS = READS / 4;

/**
 * Returns how many objects stay in the heap of a process after `READS` reads. Arguments: see `retained-by-reads.ts`.
 */
export async function retainedByReads(...args: string[]): Promise<number> {
  const program = fileURLToPath(new URL('retained-by-reads.ts', import.meta.url));
  const flags = ['--disable-warning=ExperimentalWarning'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, ...args]);
  const { before, after } = JSON.parse(stdout) as { before: number; after: number };
  return after - before;
}
