import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { type ReplicaDetails, replicaDetails } from '../../sql/event-log/replica-details.ts';
import { CommandFailed } from '../output.ts';

/** Under load a replica may be behind a lane for a moment. */
const WHOLE_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 200;

/** @throws {CommandFailed} when the replica was not added */
export async function detailsOf(db: Queryable, name: string): Promise<ReplicaDetails> {
  const all = await replicaDetails(db);
  const found = all.find((replica) => replica.name === name);
  if (found) return found;
  throw new CommandFailed(`there is no replica ${name}: run "hoplog replica add ${name}" first`);
}

/** @throws {CommandFailed} when another replica must not be filled from this one */
export async function assertSource(db: Queryable, name: string): Promise<void> {
  const { isUsed, missed } = await detailsOf(db, name);
  if (isUsed && missed === 0) return;
  const why = isUsed ? `has missed ${missed} writes, which workers repair` : 'is not used';
  throw new CommandFailed(`replica ${name} ${why}: run the command again later`);
}

/**
 * Returns a replica that has everything so far, and from which `target` can be filled.
 *
 * @param wanted its name; null: any
 * @throws {CommandFailed} when there is none
 */
export async function sourceOf(
  db: Queryable,
  replicas: readonly Replica[],
  target: string,
  wanted: string | null,
): Promise<Replica> {
  if (wanted !== null) {
    if (wanted === target)
      throw new CommandFailed(`a replica can't be filled from itself: --from names ${target}`);
    await detailsOf(db, wanted);
    replicaOf(replicas, wanted);
  }
  const deadline = performance.now() + WHOLE_WITHIN_MS;
  for (;;) {
    const whole = (await replicaDetails(db)).filter(
      ({ name, isUsed, missed, partitionsBehind }) =>
        name !== target && isUsed && missed === 0 && partitionsBehind === 0,
    );
    const found = replicas.find(
      ({ name }) => (wanted === null || name === wanted) && whole.some((one) => one.name === name),
    );
    if (found) return found;
    if (performance.now() > deadline) break;
    await sleep(LOOK_EVERY_MS);
  }
  const which = wanted === null ? 'no other replica of CLICKHOUSE_REPLICAS' : `replica ${wanted}`;
  throw new CommandFailed(
    `${which} is used and has everything: wait until "hoplog replica list" says so, and run the command again`,
  );
}

/** @throws {CommandFailed} naming the settings, when they do not name the replica */
export function replicaOf(replicas: readonly Replica[], name: string): Replica {
  const found = replicas.find((replica) => replica.name === name);
  if (found) return found;
  const names = replicas.map((replica) => replica.name).join(', ');
  throw new CommandFailed(`CLICKHOUSE_REPLICAS has no ${name}: it names ${names}`);
}
