import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../clock/shifted-clock.c', import.meta.url));

export type ShiftedClock = {
  /** Environment of the processes with this wall clock: Node, PostgreSQL and ClickHouse alike. */
  env: { LD_PRELOAD: string; CLOCK_OFFSET_FILE: string };
  /** Shifts the wall clock of all of them by `seconds`, at once. */
  shift(seconds: number): void;
};

/**
 * Creates a wall clock that a test sets, for real processes. It is a library, compiled with gcc and preloaded: a
 * preload of Node would not affect the databases, and libfaketime shifts the monotonic clock too and reads its offset
 * from a file at each call.
 *
 * @param directory for its files
 */
export function shiftedClock(directory: string): ShiftedClock {
  const library = join(directory, 'shifted-clock.so');
  const offset = join(directory, 'clock-offset');
  execFileSync('gcc', ['-O2', '-shared', '-fPIC', '-o', library, SOURCE]);
  writeFileSync(offset, Buffer.alloc(8), { mode: 0o644 });
  return {
    env: { LD_PRELOAD: library, CLOCK_OFFSET_FILE: offset },
    shift(seconds) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(seconds) * 1_000_000_000n);
      const file = openSync(offset, 'r+');
      writeSync(file, bytes, 0, 8, 0);
      closeSync(file);
    },
  };
}
