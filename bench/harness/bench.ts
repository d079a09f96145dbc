import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Resources of a benchmark: a temporary directory and cleanup steps. */
export type Bench = {
  directory: string;
  /** Registers a step to run at the end in reverse order, even after an error or Ctrl-C. */
  defer(close: () => unknown): void;
};

/**
 * Runs a benchmark and cleans up. Signals clean up too, because embedded servers survive a killed parent.
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

/** Runs every cleanup step, even if one fails. */
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

/** Writes progress to standard error. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
