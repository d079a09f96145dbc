import { type Logger, pino } from 'pino';

export type { Logger };

/** Lines that wait for a full disk are dropped beyond it. */
const UNWRITTEN_BYTES = 4 * 1024 * 1024;

/**
 * The logger of one process: JSON lines on standard error (standard output belongs to the ready line and
 * to command results), human-readable when standard error is a terminal.
 *
 * @param tier name of the process in every line, such as `ingest`
 * @param level a pino level; lines below it are dropped
 */
export function createLogger(tier: string, level = 'info'): Logger {
  const base = { tier };
  if (process.stderr.isTTY) {
    return pino(
      { level, base },
      pino.transport({
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
 * Where standard error is a file on a full disk, lines are lost and the process goes on. sonic-boom would write the last ones until
 * it succeeds, and keep the process from its end.
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

/** A logger that writes nothing: for tests that look at other things. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
