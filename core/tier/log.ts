import { createRequire } from 'node:module';
import { type Logger, pino } from 'pino';

export type { Logger };

/** Limit of lines that wait for a full disk; more are dropped. */
const UNWRITTEN_BYTES = 4 * 1024 * 1024;

/**
 * Creates the logger of a process: JSON lines on standard error, human-readable on a terminal. Standard output is for
 * the ready line and results of commands.
 *
 * @param tier name of the process in every line, such as `ingest`
 * @param level a pino level; lines below it are dropped
 */
export function createLogger(tier: string, level = 'info'): Logger {
  const base = { tier };
  if (process.stderr.isTTY) {
    // Loads pino from `node_modules`: a transport runs in a thread, whose file a bundle does not contain.
    const installed: typeof import('pino') = createRequire(import.meta.url)('pino');
    return installed.pino(
      { level, base },
      installed.transport({
        target: 'pino-pretty',
        options: { destination: 2, ignore: 'pid,hostname', singleLine: true },
      }),
    );
  }
  const destination = pino.destination({ fd: 2, sync: false, maxLength: UNWRITTEN_BYTES });
  survivesFullDisk(destination);
  return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/**
 * Lets the process continue when its log is on a full disk: lines are lost. Otherwise sonic-boom retries the last
 * lines forever and blocks the exit.
 */
function survivesFullDisk(destination: ReturnType<typeof pino.destination>): void {
  const { flushSync } = destination;
  destination.on('error', () => {
    destination.flushSync = () => {};
  });
  destination.on('write', () => {
    destination.flushSync = flushSync;
  });
}

/** Returns a logger that writes nothing, for tests. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
