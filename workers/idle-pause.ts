/**
 * Poll interval of a loop that has found nothing for a while: each poll wakes this process and PostgreSQL.
 */
export type IdlePause = {
  /** Notes that a poll found something. */
  found(): void;
  /** Returns how long to wait for the next poll. Milliseconds. */
  ms(): number;
};

/** Time without a find after which a loop is idle. */
const IDLE_AFTER_MS = 10_000;

/**
 * @param busyMs interval while there was something lately
 * @param idleMs interval otherwise: the first thing after a pause is found that late
 */
export function createIdlePause(
  { busyMs, idleMs }: { busyMs: number; idleMs: number },
  now: () => number = () => performance.now(),
): IdlePause {
  let foundAt = now();
  return {
    found() {
      foundAt = now();
    },
    ms: () => (now() - foundAt < IDLE_AFTER_MS ? busyMs : idleMs),
  };
}
