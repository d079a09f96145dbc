import type { ReplicaMarks } from '../../core/event-log/replica-marks.ts';

/** A replica this far behind the freshest one is as good as it. Microseconds. */
const AS_FRESH = 1_000_000;

export type Choice = {
  marks: ReplicaMarks;
  /** The watermark that the replica must have reached. Microseconds. */
  atLeast: number;
  /** The replicas that this process knows, the first ones first. */
  names: readonly string[];
  /** Replicas that failed in this read. */
  tried: ReadonlySet<string>;
  /** Replicas that failed lately: only without another one. */
  avoided: ReadonlySet<string>;
  /** The replica of the last read, whose caches are warm. */
  preferred: string | null;
};

/** Returns the replica to read; null: none has what the reader needs. */
export function chooseReplica({ marks, atLeast, names, tried, avoided, preferred }: Choice): string | null {
  const markOf = (name: string) => marks.of.get(name) ?? 0;
  // A reader may have been told a time that lies ahead of all watermarks: the newest one is what it can rely on.
  const needed = Math.min(atLeast, marks.newest ?? 0);
  const able = names.filter((name) => marks.of.has(name) && !tried.has(name) && markOf(name) >= needed);
  const healthy = able.filter((name) => !avoided.has(name));
  const candidates = healthy.length > 0 ? healthy : able;
  const freshest = Math.max(...candidates.map(markOf));
  const fresh = candidates.filter((name) => markOf(name) >= freshest - AS_FRESH);
  return fresh.find((name) => name === preferred) ?? fresh[0] ?? null;
}
