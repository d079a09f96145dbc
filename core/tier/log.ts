import { type Logger, pino } from 'pino';

export type { Logger };

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
  return pino(
    { level, base, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}

/** A logger that writes nothing: for tests that look at other things. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
