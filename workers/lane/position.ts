import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { type Lane, LaneMoved } from '../../sql/event-log/lanes.ts';
import type { Range } from './poll-batch.ts';

/**
 * How long the log may end before a lane's offset: a journal's end is right only once its writer has recovered it, and
 * a new partition leader may be behind.
 */
const PATIENCE_MS = 5_000;
const RETRY_MS = 100;

export type Bounds = { start: bigint; end: bigint };

/** Reads the bounds of a partition. Retries for some seconds while the log ends before `offset`. */
export async function logBounds(
  reader: EventLogReader,
  partition: string,
  offset: bigint,
  { signal, patienceMs = PATIENCE_MS }: { signal: AbortSignal; patienceMs?: number | undefined },
): Promise<Bounds> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const [start, end] = await Promise.all([reader.start(partition), reader.end(partition)]);
    if (end >= offset || performance.now() >= deadline) return { start, end };
    await sleep(RETRY_MS, undefined, { signal });
  }
}

/** Detects that the log was cut or replaced under a running lane, whose offset is then past the end for good. */
export function createEndWatch(lane: Lane, patienceMs = PATIENCE_MS) {
  let pastSince: number | null = null;

  /** @throws {LaneMoved} when the lane has been past the end for some seconds */
  return function check(offset: bigint, end: bigint): void {
    if (offset <= end) {
      pastSince = null;
      return;
    }
    pastSince ??= performance.now();
    if (performance.now() - pastSince < patienceMs) return;
    throw new LaneMoved(lane, `is at ${offset}, the log ends at ${end}`);
  };
}

/** A replaced journal returns its start to a reader past its end. @throws {LaneMoved} when offsets move backward */
export function assertForward(lane: Lane, { from, to }: Range): void {
  if (to < from) throw new LaneMoved(lane, `is at ${from}, the log has gone back to ${to}`);
}
