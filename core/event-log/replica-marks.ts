/** How far the replicas of ClickHouse are that may be read. Times are microseconds since the epoch. */
export type ReplicaMarks = {
  /** The watermark of the lanes: no replica has a later one. Null: there is no stream, and so no click. */
  newest: number | null;
  /** The watermark of each replica: it has every click before this. */
  of: ReadonlyMap<string, number | null>;
};

/** Returns the latest watermark of a replica; null: there is no stream. */
export function freshestOf({ newest, of }: ReplicaMarks): number | null {
  return newest === null ? null : Math.max(0, ...[...of.values()].map((mark) => mark ?? 0));
}

/** {@link ReplicaMarks} as PostgreSQL returns them. */
export type MarksRecord = {
  watermark: number | null;
  /** The time up to which a replica has every click that a lane is past; null: it has all of them. */
  replicas: Record<string, number | null>;
};

/** Returns the watermark of each replica. */
export function marksOf({ watermark, replicas }: MarksRecord): ReplicaMarks {
  const markOf = (behind: number | null) =>
    watermark === null || behind === null ? watermark : Math.min(watermark, behind);
  return {
    newest: watermark,
    of: new Map(Object.entries(replicas).map(([name, behind]) => [name, markOf(behind)])),
  };
}
