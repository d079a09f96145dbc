/**
 * Poll interval of loops that have found nothing for a while: each poll wakes this process and PostgreSQL.
 */
export type IdlePause = {
  /** Notes that a poll found something, or that it soon will. */
  found(): void;
  isIdle(): boolean;
  /**
   * Returns how long to wait for the next poll. Milliseconds.
   *
   * @param busyMs interval while there was something lately
   */
  ms(busyMs: number): number;
};

/** Time without a find after which a loop is idle. */
const IDLE_AFTER_MS = 10_000;

/** @param idleMs interval of idle loops, and so the longest delay of the first find after a pause */
export function createIdlePause(idleMs: number, now: () => number = () => performance.now()): IdlePause {
  let foundAt = now();
  const isIdle = () => now() - foundAt >= IDLE_AFTER_MS;
  return {
    found() {
      foundAt = now();
    },
    isIdle,
    ms: (busyMs) => (isIdle() ? Math.max(busyMs, idleMs) : busyMs),
  };
}
