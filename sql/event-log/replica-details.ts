import type { Queryable } from '../database/pool.ts';
import { IS_FILL } from './replica-fills.ts';
import { WATERMARK } from './streams.ts';

/** A replica as an operator sees it. */
export type ReplicaDetails = {
  name: string;
  addedAt: Date;
  /** It is to be read while it has missed nothing. */
  isUsed: boolean;
  /** Another replica has to give it what is older than its addition. */
  isFilling: boolean;
  /** Writes that it has missed. */
  missed: number;
  /** Partitions whose log no longer holds what it lacks. */
  lostPartitions: string[];
  /** Partitions that it is behind. */
  partitionsBehind: number;
  /** Microseconds; null: there is no stream. */
  watermark: number | null;
  /** How far it is behind the lanes. Seconds. */
  behindSeconds: number;
};

/** Returns every replica, by name. */
export async function replicaDetails(db: Queryable): Promise<ReplicaDetails[]> {
  const { rows } = await db.query<Omit<ReplicaDetails, 'behindSeconds'> & { newest: number | null }>(
    `SELECT name, added_at AS "addedAt", is_readable AS "isUsed",
       EXISTS (SELECT FROM replica_repairs WHERE replica = name AND ${IS_FILL}) AS "isFilling",
       (SELECT count(*) FROM replica_repairs WHERE replica = name AND NOT ${IS_FILL})::int AS missed,
       ARRAY(SELECT partition FROM replica_lanes WHERE replica = name AND lost_at IS NOT NULL ORDER BY 1)
         AS "lostPartitions",
       (SELECT count(*) FROM replica_lanes WHERE replica = name)::int AS "partitionsBehind",
       least((${WATERMARK}), (SELECT min(own.visible_before) FROM replica_streams AS own WHERE own.replica = name))
         AS watermark,
       (${WATERMARK}) AS newest
     FROM replicas ORDER BY name`,
  );
  return rows.map(({ newest, ...details }) => ({
    ...details,
    behindSeconds: Math.max(0, ((newest ?? 0) - (details.watermark ?? newest ?? 0)) / 1_000_000),
  }));
}

/** What keeps a replica from being read, or slows it; `read`: nothing. */
export type ReplicaSituation = 'read' | 'behind' | 'lost' | 'filling' | 'repairing' | 'not used';

/** Returns the replicas that are not read, or behind, with their situations; empty when one alone was added. */
export async function troubledReplicas(
  db: Queryable,
): Promise<{ name: string; state: Exclude<ReplicaSituation, 'read'>; behind_seconds: number }[]> {
  const all = await replicaDetails(db);
  return all.flatMap((replica) => {
    const state = situationOf(replica);
    if (all.length === 1 || state === 'read') return [];
    return [{ name: replica.name, state, behind_seconds: Math.round(replica.behindSeconds) }];
  });
}

/** A replica that is further behind is not read while another one is fresher. Seconds. */
const BEHIND_SECONDS = 10;

/** Returns the situation of a replica, the gravest one. */
export function situationOf(replica: ReplicaDetails): ReplicaSituation {
  if (replica.lostPartitions.length > 0) return 'lost';
  if (replica.isFilling) return 'filling';
  if (replica.missed > 0) return 'repairing';
  if (!replica.isUsed) return 'not used';
  return replica.behindSeconds > BEHIND_SECONDS ? 'behind' : 'read';
}
