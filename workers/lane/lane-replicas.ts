import type { Replica } from '../../clickhouse/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { Intent, Lane } from '../../sql/event-log/lanes.ts';
import {
  fallBehind,
  joinLane,
  markLost,
  type ReplicaLane,
  readReplicaStreams,
  replicaNames,
  replicasBehind,
} from '../../sql/event-log/replica-lanes.ts';
import { readStreams, type StreamProgress } from '../../sql/event-log/streams.ts';
import type { Retry } from '../retry.ts';
import { type CatchUpDependencies, catchUp } from './catch-up.ts';
import { createInStep, type InStep } from './in-step.ts';
import { createReplicaStore, type ReplicaStore, type ReplicaStoreDependencies } from './replica-store.ts';

export type LaneReplicasDependencies = Omit<ReplicaStoreDependencies, 'readMarks'> &
  Pick<CatchUpDependencies, 'decode' | 'enricher' | 'reader' | 'maxEvents' | 'laneOffset'> & {
    pool: Pool;
    replicas: readonly Replica[];
    retry: Retry;
    /** Called with the error of a replica that catches up: the lane can't continue. */
    onError: (error: unknown) => void;
  };

/** The replicas of ClickHouse of one lane: those in step with it, and those that catch up. */
export type LaneReplicas = {
  /**
   * Finds which replicas are in step, by PostgreSQL. One that this process does not know falls behind.
   *
   * @param marks the progress of streams at the lane's offset
   */
  take(marks: readonly StreamProgress[]): Promise<void>;
  /** Called before the lane's row is reset: the log has lost what the replicas behind it lack. */
  lose(): Promise<void>;
  /** Starts to catch up: the lane's offset is known. */
  start(): void;
  /** Stores a range in the replicas in step; see {@link InStep}. */
  store: InStep['store'];
  /** Returns the names of the replicas that are behind. */
  behind(): string[];
  /** Resolves when nothing runs any more, after the signal. */
  ended(): Promise<void>;
};

/** Creates the replicas of a lane that was just taken. */
export function createLaneReplicas(dependencies: LaneReplicasDependencies, lane: Lane): LaneReplicas {
  const { pool, replicas, retry, signal, log, laneOffset, onError } = dependencies;
  /** Replicas with a row of their own, those included that this process does not know. */
  const behind = new Map<string, ReplicaLane>();
  const running = new Set<Promise<void>>();
  let isStarted = false;
  const inStep = createInStep({
    signal,
    leave: ({ name }, { ready: { prepared }, attempt: { token } }) => {
      const { from, to } = prepared.range;
      return leave(name, from, { from, to, token });
    },
  });

  function storeOf(replica: Replica, marks: readonly StreamProgress[]): ReplicaStore {
    const { name } = replica;
    const readMarks = () =>
      behind.has(name) ? readReplicaStreams(pool, name, lane.partition) : readStreams(pool);
    return createReplicaStore({ ...dependencies, readMarks }, replica, lane, marks);
  }

  /** Lets a replica stay at the lane's offset, with what it may have of the range after it. */
  async function leave(replica: string, nextOffset: bigint, intent: Intent | null): Promise<void> {
    await retry('fall_behind', () => fallBehind(pool, lane, replica, { nextOffset, intent }));
    behind.set(replica, { replica, nextOffset, intent, isLost: false });
    log.warn({ replica, offset: String(nextOffset) }, 'the replica falls behind');
    if (isStarted) startCatchUp(replica);
  }

  function startCatchUp(name: string): void {
    const [replica, late] = [replicas.find((known) => known.name === name), behind.get(name)];
    if (!replica || !late || late.isLost) return;
    const given = {
      ...dependencies,
      readMarks: () => readReplicaStreams(pool, name, lane.partition),
      createStore: (marks: readonly StreamProgress[]) => storeOf(replica, marks),
      join: (store: ReplicaStore, at: bigint, intent: Intent | null) =>
        inStep.join(async (token) => {
          if (at !== laneOffset() || (intent && intent.token !== token)) return null;
          if (!(await retry('join_lane', () => joinLane(pool, lane, name)))) return null;
          behind.delete(name);
          return store;
        }),
    };
    const ended = catchUp(given, lane, late).catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });
    running.add(ended);
    void ended.then(() => running.delete(ended));
  }

  return {
    async take(marks) {
      const names = await retry('read_replicas', () => replicaNames(pool));
      for (const late of await retry('read_replicas', () => replicasBehind(pool, lane.partition))) {
        behind.set(late.replica, late);
      }
      for (const name of names.filter((known) => !behind.has(known))) {
        const replica = replicas.find((known) => known.name === name);
        if (replica) inStep.add(storeOf(replica, marks));
        else await leave(name, lane.nextOffset, lane.intent);
      }
    },
    async lose() {
      for (const [name, late] of behind) {
        await retry('mark_lost', () => markLost(pool, lane, name));
        behind.set(name, { ...late, isLost: true });
      }
    },
    start() {
      isStarted = true;
      for (const name of behind.keys()) startCatchUp(name);
    },
    store: inStep.store,
    behind: () => [...behind.keys()],
    ended: async () => void (await Promise.all([...running, inStep.ended()])),
  };
}
