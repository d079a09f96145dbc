import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { isRefusal } from '../../clickhouse/inserts/refusal.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { replicaStates } from '../../sql/event-log/replica-repairs.ts';

export type ReplicasToWrite = {
  /** The replicas that this process knows. */
  replicas: readonly Replica[];
  /** Called with what a replica failed with while another one has the write. */
  onMissed: (replica: string, error: unknown) => void;
};

/** Time that a write waits for the other replicas once one has it. Milliseconds. */
const LATE_MS = 5_000;

/** Ends a write into a replica that is late. */
class Late extends Error {
  constructor() {
    super(`the write took ${LATE_MS} ms longer than that of another replica`);
    this.name = 'Late';
  }
}

/**
 * Runs a write in every replica of ClickHouse, at once. It may be repeated, and may still take effect after it failed.
 *
 * A replica misses it that fails, is late, is unknown to this process, or has missed something before: that one is not
 * waited for again until it is repaired. The caller records the misses in the transaction that records the write.
 *
 * @returns the replicas that missed it
 * @throws the error of a replica that refuses the rows, or of the first one when no replica has the write
 */
export async function writeToEach(
  db: Queryable,
  { replicas, onMissed }: ReplicasToWrite,
  write: (clickhouse: ClickHouseClient, signal: AbortSignal) => Promise<void>,
): Promise<string[]> {
  const states = await replicaStates(db);
  const known = replicas.filter(({ name }) => states.some((state) => state.name === name));
  const whole = known.filter(({ name }) => states.some((state) => state.name === name && !state.isOut));
  const targets = whole.length > 0 ? whole : known;
  const [first] = targets;
  if (!first) throw new Error('no replica of ClickHouse of these settings has been added');
  const stored = new Set<string>();
  if (targets.length === 1) {
    await write(first.clickhouse, new AbortController().signal);
    stored.add(first.name);
  } else await writeTogether(targets, write, stored, onMissed);
  return states.map(({ name }) => name).filter((name) => !stored.has(name));
}

async function writeTogether(
  targets: readonly Replica[],
  write: (clickhouse: ClickHouseClient, signal: AbortSignal) => Promise<void>,
  stored: Set<string>,
  onMissed: ReplicasToWrite['onMissed'],
): Promise<void> {
  const late = new AbortController();
  const firstStored = Promise.withResolvers<void>();
  const failures: { name: string; error: unknown }[] = [];
  const all = Promise.all(
    targets.map(async ({ name, clickhouse }) => {
      try {
        await write(clickhouse, late.signal);
        if (late.signal.aborted) return;
        stored.add(name);
        firstStored.resolve();
      } catch (error) {
        failures.push({ name, error });
      }
    }),
  );
  let timer: NodeJS.Timeout | undefined;
  const tooLate = firstStored.promise.then(
    () =>
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, LATE_MS);
      }),
  );
  await Promise.race([all, tooLate]);
  clearTimeout(timer);
  late.abort(new Late());
  const refusal = failures.find(({ error }) => isRefusal(error));
  if (refusal) throw refusal.error;
  if (stored.size === 0) throw failures[0]?.error;
  for (const { name } of targets) {
    if (stored.has(name)) continue;
    onMissed(name, failures.find((failure) => failure.name === name)?.error ?? late.signal.reason);
  }
}
