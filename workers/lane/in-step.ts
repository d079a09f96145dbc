import { assertInvariant } from '../../core/invariants.ts';
import type { Refused } from './insert.ts';
import type { Attempt, Ready, ReplicaStore } from './replica-store.ts';

/** Time that a range waits for the other replicas once one has it. Milliseconds. */
const LATE_MS = 500;

/** Ends the work of a replica that fell behind the lane. */
class FellBehind extends Error {
  constructor(replica: string) {
    super(`replica ${replica} fell behind`);
    this.name = 'FellBehind';
  }
}

export type InStepDependencies = {
  /** Ends all waits. */
  signal: AbortSignal;
  /** Records that a replica stays at the lane's offset, with an intent; it then catches up alone. */
  leave: (store: ReplicaStore, late: { ready: Ready; attempt: Attempt }) => Promise<void>;
};

/** The replicas that are at the lane's offset. */
export type InStep = {
  add(store: ReplicaStore): void;
  /**
   * Inserts a range into every replica that is in step, and into those that join meanwhile, then calls `advance`. Waits
   * until one has it, and for the others a little longer. Those that are late then leave.
   *
   * @param advance records that the replicas in step have the range
   */
  store(
    ready: Ready,
    attempt: Attempt,
    advance: (refused: readonly Refused[]) => Promise<void>,
  ): Promise<void>;
  /**
   * Runs `join` while the lane does not advance, with the token of the range that is being stored. What it returns is
   * in step from then on, and gets this range too.
   */
  join(join: (token: string | null) => Promise<ReplicaStore | null>): Promise<boolean>;
  /** Resolves when nothing is sent any more, after the signal. */
  ended(): Promise<void>;
};

type Run = {
  store: ReplicaStore;
  state: 'running' | 'stored' | 'failed';
  error: unknown;
  refused: Refused[];
};
type Current = { ready: Ready; attempt: Attempt; runs: Run[]; firstAt: number | null };

/**
 * Creates the group of replicas that share each range: it is decoded, enriched, and encoded once for all of them. The
 * group is the invariant of the lane's row in PostgreSQL: **a replica without a row of its own has everything before
 * the lane's offset.** So the lane advances only after each member has the range, or has got a row of its own; and a
 * row is removed only at the lane's very offset.
 */
export function createInStep({ signal, leave }: InStepDependencies): InStep {
  const members = new Set<ReplicaStore>();
  const sending = new Set<Promise<void>>();
  let current: Current | null = null;
  let changed = Promise.withResolvers<void>();
  let last: Promise<unknown> = Promise.resolve();

  function notify(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  /** Runs one after the other what changes the lane's offset or its members. */
  function exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  function start(into: Current, store: ReplicaStore): void {
    const run: Run = { store, state: 'running', error: null, refused: [] };
    into.runs.push(run);
    const sent = store.store(into.ready, into.attempt).then(
      (refused) => {
        run.refused = refused;
        run.state = 'stored';
        into.firstAt ??= performance.now();
        notify();
      },
      (error: unknown) => {
        run.error = error;
        run.state = 'failed';
        notify();
      },
    );
    sending.add(sent);
    void sent.then(() => sending.delete(sent));
  }

  /** Returns the replicas that are too late; null: the range has to wait. @throws the error of a run */
  function lateOnes({ runs, firstAt }: Current): Run[] | null {
    const failed = runs.find(({ state }) => state === 'failed');
    if (failed) throw failed.error;
    const running = runs.filter(({ state }) => state === 'running');
    if (firstAt === null) return null;
    return running.length === 0 || performance.now() >= firstAt + LATE_MS ? running : null;
  }

  async function untilDue(waiting: Current): Promise<void> {
    while (lateOnes(waiting) === null) {
      signal.throwIfAborted();
      const { firstAt } = waiting;
      const next = changed.promise;
      if (firstAt === null) await next;
      else await withTimer(next, firstAt + LATE_MS - performance.now());
    }
  }

  const onAbort = () => notify();
  signal.addEventListener('abort', onAbort, { once: true });

  return {
    add: (store) => void members.add(store),

    async store(ready, attempt, advance) {
      const storing: Current = { ready, attempt, runs: [], firstAt: ready.blocks.length === 0 ? 0 : null };
      if (ready.blocks.length > 0) for (const store of members) start(storing, store);
      current = storing;
      try {
        for (let isDone = false; !isDone; ) {
          // Without a member the range waits, even one without rows: no replica has what is before it.
          while (members.size === 0) {
            signal.throwIfAborted();
            await changed.promise;
          }
          await untilDue(storing);
          isDone = await exclusive(async () => {
            const late = lateOnes(storing);
            // A replica has joined meanwhile.
            if (late === null) return false;
            for (const { store } of late) {
              await leave(store, { ready, attempt });
              members.delete(store);
              store.stop(new FellBehind(store.name));
            }
            assertInvariant(
              'replicas_in_step',
              members.size > 0,
              () => `${ready.prepared.range.partition} was to advance without a replica in step`,
            );
            const stored = storing.runs.filter(({ store }) => members.has(store));
            await advance(stored.flatMap(({ refused }) => refused));
            for (const store of members) store.advanced(ready.prepared);
            return true;
          });
        }
      } finally {
        current = null;
      }
    },

    join: (join) =>
      exclusive(async () => {
        const store = await join(current?.attempt.token ?? null);
        if (!store) return false;
        members.add(store);
        if (current && current.ready.blocks.length > 0) start(current, store);
        notify();
        return true;
      }),

    ended: async () => void (await Promise.all(sending)),
  };
}

/** Waits for a promise, for `ms` at most. */
async function withTimer(promise: Promise<void>, ms: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, Math.max(0, ms));
  await Promise.race([promise, timeout.promise]);
  clearTimeout(timer);
}
