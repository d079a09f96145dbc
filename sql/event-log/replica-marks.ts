import { type MarksRecord, marksOf, type ReplicaMarks } from '../../core/event-log/replica-marks.ts';
import type { Queryable } from '../database/pool.ts';
import { WATERMARK, watermark } from './streams.ts';

const IS_READABLE = `(is_readable AND NOT EXISTS (SELECT FROM replica_repairs AS missed WHERE missed.replica = name))`;

/** SQL: where the events begin that a replica lacks; null where it has all. @param replica SQL of its name */
const behindOf = (replica: string) =>
  `(SELECT min(own.visible_before) FROM replica_streams AS own WHERE own.replica = ${replica})`;

/** SQL: the watermark of a replica. @param replica SQL of its name */
const watermarkOf = (replica: string) => `least((${WATERMARK}), ${behindOf(replica)})`;

/**
 * SQL of `replicas` of a {@link MarksRecord}. A stream whose events a replica lacks has a row of the replica, also when
 * it is retired.
 */
export const REPLICAS_READABLE = `SELECT coalesce(json_object_agg(name, ${behindOf('name')}), '{}')
  FROM replicas WHERE ${IS_READABLE}`;

export type ListedReplica = {
  name: string;
  /** Microseconds; null: there is no stream. */
  watermark: number | null;
  isReadable: boolean;
};

/** Returns every replica that has data, or is being filled. */
export async function listReplicas(db: Queryable): Promise<ListedReplica[]> {
  const { rows } = await db.query<ListedReplica>(
    `SELECT name, ${IS_READABLE} AS "isReadable", ${watermarkOf('name')} AS watermark
     FROM replicas ORDER BY name`,
  );
  return rows;
}

/**
 * Returns where the events begin that a replica lacks because it is behind a lane, in microseconds; null: it is behind
 * none.
 */
export async function replicaBehindSince(db: Queryable, replica: string): Promise<number | null> {
  const { rows } = await db.query<{ behind: number | null }>(`SELECT ${behindOf('$1')} AS behind`, [replica]);
  return rows[0]?.behind ?? null;
}

export type ReplicaProgress = {
  name: string;
  /** It has missed something that another replica has. */
  isOut: boolean;
  /** Microseconds; null: there is no stream. */
  watermark: number | null;
};

/** Returns how far every replica is, also one that is being filled. */
export async function replicaProgress(db: Queryable): Promise<ReplicaProgress[]> {
  const { rows } = await db.query<ReplicaProgress>(
    `SELECT name, EXISTS (SELECT FROM replica_repairs WHERE replica = name) AS "isOut",
       ${watermarkOf('name')} AS watermark FROM replicas ORDER BY name`,
  );
  return rows;
}

/** Returns the watermark of a replica, in microseconds, whether it may be read or not; null: there is no stream. */
export async function replicaWatermark(db: Queryable, replica: string): Promise<number | null> {
  const { rows } = await db.query<{ watermark: number | null }>(`SELECT ${watermarkOf('$1')} AS watermark`, [
    replica,
  ]);
  return rows[0]?.watermark ?? null;
}

/**
 * Returns how far each replica of ClickHouse is that may be read. Read it before the clicks.
 *
 * @param names the replicas that this process knows; one alone is never behind
 */
export async function readReplicaMarks(db: Queryable, names: readonly string[]): Promise<ReplicaMarks> {
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) {
    const newest = await watermark(db);
    return { newest, of: new Map([[only, newest]]) };
  }
  return marksOfReplicas(db);
}

/** Returns how far each of several replicas is that may be read. */
export async function marksOfReplicas(db: Queryable): Promise<ReplicaMarks> {
  const { rows } = await db.query<MarksRecord>({
    name: 'replica_marks',
    text: `SELECT (${WATERMARK}) AS watermark, (${REPLICAS_READABLE}) AS replicas`,
  });
  return marksOf(rows[0] ?? { watermark: null, replicas: {} });
}
