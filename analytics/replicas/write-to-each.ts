import { ClickHouseError } from '@clickhouse/client';
import { answers, type ClickHouseClient } from '../../clickhouse/client.ts';
import { refusesRows } from '../../clickhouse/inserts/refusal.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { type ReplicaState, replicaStates } from '../../sql/event-log/replica-repairs.ts';

export type ReplicasToWrite = {
  /** The replicas that this process knows. */
  replicas: readonly Replica[];
  /** Gets the errors of replicas that missed a write. */
  log: Pick<Logger, 'warn'>;
};

export type WriteToEach = {
  /** What is written, for the log. */
  what: string;
  /** Replicas that must not get the write now: they miss it. */
  except?: readonly string[];
  /** May be repeated, and may still take effect after it failed. */
  write: (clickhouse: ClickHouseClient, signal: AbortSignal) => Promise<void>;
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
 * Runs a write in every replica of ClickHouse, at once.
 *
 * A replica misses it that fails, is late, is unknown to this process, or has missed something before: that one is not
 * waited for again until it is repaired. The caller records with `recordMissed` which replicas have the write, in the
 * transaction that records the work as done. The only replica of a process gets the write as if there were no others.
 *
 * @returns the replicas that have the write
 * @throws when no replica has it: that the rows are refused, if every one that responded refuses them; otherwise the
 *   error of one that may have it later
 */
export async function writeToEach(
  db: Queryable,
  { replicas, log }: ReplicasToWrite,
  { what, except = [], write }: WriteToEach,
): Promise<string[]> {
  const states = replicas.length === 1 ? null : await statesByName(db);
  const targets = (states ? wholeOnes(states, replicas) : replicas).filter(
    ({ name }) => !except.includes(name),
  );
  const [first, ...others] = targets;
  if (!first) throw new AppError('unavailable', 'no replica of ClickHouse can be written now; try again');
  if (others.length === 0) {
    await write(first.clickhouse, new AbortController().signal);
    return [first.name];
  }
  const { stored, failures } = await writeTogether(targets, write);
  // What only replicas have that are not filled yet, no other one could get from them.
  const isFilled = (name: string) => states?.get(name)?.isFilled === true;
  const needed = targets.some(({ name }) => isFilled(name)) ? isFilled : () => true;
  if (!stored.some(needed))
    throw decisiveOf(failures.filter(({ name }) => needed(name)).map(({ error }) => error));
  for (const { name, error } of failures)
    log.warn({ err: error, replica: name, what }, 'a replica missed a write; it is not read until it has it');
  return stored;
}

/**
 * Returns a replica that has everything that was written to each. One of several is checked first.
 *
 * @throws {AppError} `unavailable` when none responds
 */
export async function wholeReplica(db: Queryable, replicas: readonly Replica[]): Promise<Replica> {
  const [first, ...others] = replicas;
  if (first && others.length === 0) return first;
  const states = await statesByName(db);
  for (const replica of replicas) {
    const state = states.get(replica.name);
    if (!state?.isFilled || state.isOut) continue;
    if (await answers(replica.clickhouse)) return replica;
  }
  throw new AppError('unavailable', 'no replica of ClickHouse is up to date; try again');
}

type States = ReadonlyMap<string, ReplicaState>;

async function statesByName(db: Queryable): Promise<States> {
  return new Map((await replicaStates(db)).map((state) => [state.name, state]));
}

/** Returns the replicas that have missed nothing; all that exist, when each has missed something. */
function wholeOnes(states: States, replicas: readonly Replica[]): readonly Replica[] {
  const known = replicas.filter(({ name }) => states.has(name));
  const whole = known.filter(({ name }) => states.get(name)?.isOut === false);
  return whole.length > 0 ? whole : known;
}

type Failure = { name: string; error: unknown };

async function writeTogether(
  targets: readonly Replica[],
  write: WriteToEach['write'],
): Promise<{ stored: string[]; failures: Failure[] }> {
  const late = new AbortController();
  const firstStored = Promise.withResolvers<void>();
  const stored: string[] = [];
  const failures: Failure[] = [];
  const all = Promise.all(
    targets.map(async ({ name, clickhouse }) => {
      try {
        await write(clickhouse, late.signal);
        if (late.signal.aborted) return;
        stored.push(name);
        firstStored.resolve();
      } catch (error) {
        if (!late.signal.aborted) failures.push({ name, error });
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
  for (const { name } of targets) {
    const isKnown = stored.includes(name) || failures.some((failure) => failure.name === name);
    if (!isKnown) failures.push({ name, error: late.signal.reason });
  }
  return { stored, failures };
}

/** Returns the error that decides: one that passes with time before a refusal, and a refusal before silence. */
function decisiveOf(errors: readonly unknown[]): unknown {
  const responded = errors.filter((error) => refusesRows(error) || error instanceof ClickHouseError);
  return responded.find((error) => !refusesRows(error)) ?? responded[0] ?? errors[0];
}
