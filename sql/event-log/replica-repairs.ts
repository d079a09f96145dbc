import type { Queryable } from '../database/pool.ts';
import { IS_FILL } from './replica-fills.ts';

/** A table of ClickHouse whose rows a repair copies from a replica that has them. */
export type CopiedTable = 'attributed_shares' | 'clicks' | 'identifies' | 'removed_clicks';

/**
 * What a replica of ClickHouse may have missed of what comes from other sources than the event log, and its subjects:
 *
 * | work            | subject                                                                                        |
 * | --------------- | ---------------------------------------------------------------------------------------------- |
 * | `orders`        | the internal id of an order                                                                    |
 * | `roll_ups`      | `all`                                                                                          |
 * | `click_imports` | `<workspace>/<import>`                                                                         |
 * | `erasures`      | `<workspace>/<kind>/<target>`: the target is in no response                                     |
 * | `workspace_imports` | the id of a workspace |
 * | `clock_corrections` | the id of a correction that another replica has, which its job ends |
 * | a table         | `<workspace>/<nanoseconds since the epoch>` of rows; of `removed_clicks`, the workspace is empty |
 */
export type RepairedWork =
  | 'orders'
  | 'roll_ups'
  | 'click_imports'
  | 'workspace_imports'
  | 'erasures'
  | CopiedTable;

/** A replica. It must not be read while it has missed something, or while it is being filled. */
export type ReplicaState = {
  name: string;
  isOut: boolean;
  isFilled: boolean;
  /** It is not repaired meanwhile. */
  isFilling: boolean;
};

/** Returns every replica that has data, or is being filled. */
export async function replicaStates(db: Queryable): Promise<ReplicaState[]> {
  const { rows } = await db.query<ReplicaState>({
    name: 'replica_states',
    text: `SELECT name, is_readable AS "isFilled", EXISTS (SELECT FROM replica_repairs WHERE replica = name) AS "isOut",
        EXISTS (SELECT FROM replica_repairs WHERE replica = name AND ${IS_FILL}) AS "isFilling"
      FROM replicas ORDER BY name`,
  });
  return rows;
}

/** Something that was written, and the replicas that have it. Every other one has missed it. */
export type StoredWrite = {
  /** Names of replicas. */
  stored: readonly string[];
  of: readonly { work: RepairedWork; subject: string | number }[];
};

/**
 * SQL of a table expression that records what replicas have missed, for a statement that records the work as done. It
 * reads the replicas as it runs, so that one which was added during the write has missed it too.
 *
 * @param first the number of the first of three parameters, see {@link missedParameters}
 */
export const recordsMissed = (first: number) => `missed AS (
  INSERT INTO replica_repairs (replica, work, subject)
  SELECT name, of.* FROM replicas, (
    SELECT DISTINCT * FROM unnest($${first + 1}::text[], $${first + 2}::text[])) AS of (work, subject)
  WHERE name <> ALL ($${first}::text[])
  ON CONFLICT (replica, work, subject) DO UPDATE SET recorded_at = clock_timestamp())`;

/** Returns the parameters of {@link recordsMissed}. */
export const missedParameters = ({ stored, of }: StoredWrite) => [
  stored,
  of.map(({ work }) => work),
  of.map(({ subject }) => String(subject)),
];

/** Records what replicas have missed. Call it in the transaction that records the work as done. */
export async function recordMissed(transaction: Queryable, write: StoredWrite): Promise<void> {
  if (write.of.length === 0) return;
  await transaction.query(`WITH ${recordsMissed(1)} SELECT`, missedParameters(write));
}

/** A subject that a replica has missed. `rowVersion` changes when the replica misses it again. */
export type MissedSubject = { subject: string; rowVersion: string };

const MISSED =
  'FROM replica_repairs AS missed WHERE replica = $1 AND work = $2 ORDER BY recorded_at, subject LIMIT $3';

/** Returns subjects of a work that a replica has missed, the oldest first. */
export async function missedOf(
  db: Queryable,
  replica: string,
  work: RepairedWork,
  limit: number,
): Promise<MissedSubject[]> {
  const { rows } = await db.query<MissedSubject>(`SELECT subject, xmin::text AS "rowVersion" ${MISSED}`, [
    replica,
    work,
    limit,
  ]);
  return rows;
}

/**
 * A missed subject, and the names of the replicas from which it can be copied. `areWhole`: each of them has it;
 * otherwise each has missed some of it, such as one version of an order, and together they have it.
 */
export type Copyable = MissedSubject & { sources: string[]; areWhole: boolean };

/** Returns subjects as {@link missedOf} does, each with the readable replicas that it can be copied from. */
export async function copyableOf(
  db: Queryable,
  replica: string,
  work: RepairedWork,
  limit: number,
): Promise<Copyable[]> {
  const { rows } = await db.query<MissedSubject & { others: { name: string; has: boolean }[] }>(
    `SELECT subject, xmin::text AS "rowVersion", coalesce((
       SELECT json_agg(json_build_object('name', name, 'has', NOT EXISTS (
         SELECT FROM replica_repairs AS own
         WHERE own.replica = name AND own.work = missed.work AND own.subject = missed.subject)) ORDER BY name)
       FROM replicas WHERE is_readable AND name <> missed.replica), '[]') AS others ${MISSED}`,
    [replica, work, limit],
  );
  return rows.map(({ others, ...missed }) => {
    const whole = others.filter(({ has }) => has);
    const areWhole = whole.length > 0;
    return { ...missed, areWhole, sources: (areWhole ? whole : others).map(({ name }) => name) };
  });
}

/** Records that the roll-ups of a replica lack clicks that it has got now. */
export async function missRollUps(transaction: Queryable, replica: string): Promise<void> {
  await transaction.query(
    `INSERT INTO replica_repairs (replica, work, subject) VALUES ($1, 'roll_ups', 'all')
     ON CONFLICT (replica, work, subject) DO UPDATE SET recorded_at = clock_timestamp()`,
    [replica],
  );
}

/** Records that a replica has what it had missed, unless it missed it again since this was read. */
export async function recordRepaired(
  db: Queryable,
  replica: string,
  work: RepairedWork,
  repaired: readonly MissedSubject[],
): Promise<void> {
  if (repaired.length === 0) return;
  await db.query(
    `DELETE FROM replica_repairs AS missed USING unnest($3::text[], $4::text[]) AS done (subject, row_version)
     WHERE replica = $1 AND work = $2 AND missed.subject = done.subject AND missed.xmin::text = done.row_version`,
    [replica, work, repaired.map(({ subject }) => subject), repaired.map(({ rowVersion }) => rowVersion)],
  );
}
