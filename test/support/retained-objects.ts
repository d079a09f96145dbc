import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const READS = 50_000;
/** What the heap may hold more for reasons of its own, such as compiled code. A leak holds one object a read or more. */
export const STRAY_OBJECTS = READS / 10;

/** Objects that stay in the heap of a process after `READS` reads. Arguments: see `retained-by-reads.ts`. */
export async function retainedByReads(...args: string[]): Promise<number> {
  const program = fileURLToPath(new URL('retained-by-reads.ts', import.meta.url));
  const flags = ['--disable-warning=ExperimentalWarning'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, ...args]);
  const { before, after } = JSON.parse(stdout) as { before: number; after: number };
  return after - before;
}
