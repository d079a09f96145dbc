/** The state of an alert. Times are milliseconds since the epoch. */
export type AlertState = {
  state: 'ok' | 'firing';
  since: number;
  /** Last time that recipients were told of a start. */
  toldAt: number | null;
  /** Whether they were told of the present start. */
  isTold: boolean;
};

const HOUR = 3_600_000;

/**
 * Returns the state after a check, and what recipients are told. A start is told once, and not within the quiet hours
 * after another: if it still lasts when they are over, it is told then. An end is told if its start was.
 */
export function alertStateAfter(
  before: AlertState,
  holds: boolean,
  now: number,
  quietHours: number,
): { after: AlertState; tell: 'firing' | 'resolved' | null } {
  if (!holds) {
    if (before.state === 'ok') return { after: before, tell: null };
    const after = { ...before, state: 'ok' as const, since: now, isTold: false };
    return { after, tell: before.isTold ? 'resolved' : null };
  }
  const since = before.state === 'firing' ? before.since : now;
  const isTold = before.state === 'firing' && before.isTold;
  const isQuiet = before.toldAt !== null && now < before.toldAt + quietHours * HOUR;
  if (isTold || isQuiet) return { after: { ...before, state: 'firing', since, isTold }, tell: null };
  return { after: { state: 'firing', since, toldAt: now, isTold: true }, tell: 'firing' };
}
