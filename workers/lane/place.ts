import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { type Lane, LaneMoved } from '../../sql/event-log/lanes.ts';
import type { Range } from './gather.ts';

/**
 * A lane that stands past the log's end waits so long before it believes that: after a power cut the journal's end is in
 * order only once its writer has started, and a broker that has just come to lead a partition may be behind.
 */
const PATIENCE_MS = 5_000;
const ASK_AGAIN_MS = 100;

export type Bounds = { start: bigint; end: bigint };

/** What the log holds of a partition. One that ends before `place` is asked again for some seconds. */
export async function logBounds(
  reader: EventLogReader,
  partition: string,
  place: bigint,
  { signal, patienceMs = PATIENCE_MS }: { signal: AbortSignal; patienceMs?: number | undefined },
): Promise<Bounds> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const [start, end] = await Promise.all([reader.start(partition), reader.end(partition)]);
    if (end >= place || performance.now() >= deadline) return { start, end };
    await sleep(ASK_AGAIN_MS, undefined, { signal });
  }
}

/** Notices that the log was cut or made anew under a lane that is at work: it then stands past the end for good. */
export function createEndWatch(lane: Lane, patienceMs = PATIENCE_MS) {
  let pastSince: number | null = null;

  /** @throws {LaneMoved} when the lane has been past the end for some seconds */
  return function check(place: bigint, end: bigint): void {
    if (place <= end) {
      pastSince = null;
      return;
    }
    pastSince ??= performance.now();
    if (performance.now() - pastSince < patienceMs) return;
    throw new LaneMoved(lane, `is at ${place}, the log ends at ${end}`);
  };
}

/** A journal that has taken the place of another gives its start to who stands past its end. @throws {LaneMoved} */
export function assertForward(lane: Lane, { from, to }: Range): void {
  if (to < from) throw new LaneMoved(lane, `is at ${from}, the log has gone back to ${to}`);
}
