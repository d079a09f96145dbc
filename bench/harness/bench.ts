import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a benchmark works with: a folder that is gone afterwards, and whatever has to be ended. */
export type Bench = {
  directory: string;
  /** Run at the end in reverse order, also after an error or Ctrl-C. */
  defer(close: () => unknown): void;
};

/**
 * Runs a benchmark and cleans up behind it. Embedded servers outlive a killed parent, so signals end them too.
 *
 * @param work measures and reports
 */
export async function benchmark(work: (bench: Bench) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));
  const closers: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= closeAll(closers);
    return closing;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void close().then(() => process.exit(130)));
  }
  try {
    await work({ directory, defer: (one) => closers.push(one) });
  } finally {
    await close();
  }
}

/** A close that fails must not keep the others. */
async function closeAll(closers: (() => unknown)[]): Promise<void> {
  for (let one = closers.pop(); one !== undefined; one = closers.pop()) {
    try {
      await one();
    } catch (error) {
      process.stderr.write(`could not clean up: ${error}\n`);
      process.exitCode = 1;
    }
  }
}

/** Says on standard error what is being done: a long run is no dead one. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
