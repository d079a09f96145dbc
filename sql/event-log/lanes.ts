import { assertInvariant } from '../../core/invariants.ts';
import type { Queryable } from '../database/pool.ts';

/** The exact range of a partition that is about to be inserted. */
export type Intent = {
  from: bigint;
  /** Exclusive: the offset of the next batch. */
  to: bigint;
  /** The deduplication tokens of its inserts begin with this. */
  token: string;
};

/**
 * A lane that this process has taken. `epoch` and `holder` together fence its writes: after PostgreSQL lost commits, as
 * in a failover, it may give an epoch a second time.
 */
export type Lane = {
  consumer: string;
  partition: string;
  holder: string;
  epoch: number;
  nextOffset: bigint;
  /** Left by a former holder that died between its insert and its advance: replay it first. */
  intent: Intent | null;
};

/**
 * A lease that ends more than this beyond its length was written while the clock was ahead, and counts as expired.
 * Milliseconds.
 */
export const LONGEST_LEAD_MS = 60_000;

/** Another worker has raised the epoch of the lane, so this process must not write for it any more. */
export class LaneLost extends Error {
  constructor(lane: Pick<Lane, 'consumer' | 'partition' | 'epoch'>) {
    super(`lane ${lane.consumer}/${lane.partition} was taken from epoch ${lane.epoch}`);
    this.name = 'LaneLost';
  }
}

/** Thrown when the lane has another offset than this process expects, although no worker took it. Take it again. */
export class LaneMoved extends Error {
  constructor(lane: Pick<Lane, 'consumer' | 'partition'>, what: string) {
    super(`lane ${lane.consumer}/${lane.partition} ${what}`);
    this.name = 'LaneMoved';
  }
}

/** Content of an `intent`. */
export type IntentRecord = { from: string; to: string; token: string };

/**
 * Takes a lane by raising its epoch, when it has no holder or the holder's lease has expired. A new lane starts at
 * offset 0.
 *
 * @param given.holder name of this process, for operators who read the table
 * @param given.leaseMs length of the lease
 * @param given.deadHolder a holder known to be dead: its lease need not expire
 * @returns null while another worker holds the lane
 */
export async function takeLane(
  db: Queryable,
  given: { consumer: string; partition: string; holder: string; leaseMs: number; deadHolder?: string },
): Promise<Lane | null> {
  const { rows } = await db.query<{ epoch: number; next_offset: string; intent: IntentRecord | null }>(
    `INSERT INTO log_lanes AS lane (consumer, partition, epoch, held_by, held_until)
     VALUES ($1, $2, 1, $3, clock_timestamp() + $4 * interval '1 millisecond')
     ON CONFLICT (consumer, partition) DO UPDATE
       SET epoch = lane.epoch + 1, held_by = EXCLUDED.held_by, held_until = EXCLUDED.held_until, updated_at = now()
       WHERE lane.held_until IS NULL OR lane.held_until < clock_timestamp() OR lane.held_by = $5
         OR lane.held_until > clock_timestamp() + $6 * interval '1 millisecond'
     RETURNING epoch, next_offset, intent`,
    [
      given.consumer,
      given.partition,
      given.holder,
      given.leaseMs,
      given.deadHolder ?? null,
      given.leaseMs + LONGEST_LEAD_MS,
    ],
  );
  const row = rows[0];
  if (!row) return null;
  const { consumer, partition } = given;
  const nextOffset = BigInt(row.next_offset);
  const intent = fromRecord(row.intent);
  return { consumer, partition, holder: given.holder, epoch: row.epoch, nextOffset, intent };
}

/** Returns the name of the lane's holder, or null. */
export async function laneHolder(db: Queryable, consumer: string, partition: string): Promise<string | null> {
  const { rows } = await db.query<{ held_by: string | null }>(
    'SELECT held_by FROM log_lanes WHERE consumer = $1 AND partition = $2',
    [consumer, partition],
  );
  return rows[0]?.held_by ?? null;
}

/** Returns the intent of a record. */
export function fromRecord(record: IntentRecord | null): Intent | null {
  return record && { from: BigInt(record.from), to: BigInt(record.to), token: record.token };
}

/** Returns an intent as the column has it. */
export function toRecord({ from, to, token }: Intent): string {
  const record: IntentRecord = { from: String(from), to: String(to), token };
  return JSON.stringify(record);
}

/**
 * SQL of a table expression that lets the statement's commit return before it is on disk. The statement must read from
 * `relaxed`, else it has no effect. A crash of PostgreSQL may lose what the statement wrote.
 */
const RELAXED = `relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))`;

/**
 * Extends the leases of lanes of one consumer by `leaseMs` from now. If a crash of PostgreSQL loses the extension,
 * another worker may take a lane. Its epoch then fences this process.
 *
 * @returns the lanes that other workers have taken
 */
export async function renewLanes(db: Queryable, lanes: readonly Lane[], leaseMs: number): Promise<Lane[]> {
  const { rows } = await db.query<{ consumer: string; partition: string; epoch: number }>({
    name: 'renew_lanes',
    text: `WITH ${RELAXED}
     UPDATE log_lanes AS lane SET held_until = clock_timestamp() + $4 * interval '1 millisecond'
     FROM relaxed, unnest($1::text[], $2::text[], $3::bigint[], $5::text[]) AS held (consumer, partition, epoch, holder)
     WHERE lane.consumer = held.consumer AND lane.partition = held.partition AND lane.epoch = held.epoch
       AND lane.held_by = held.holder
     RETURNING lane.consumer, lane.partition, lane.epoch`,
    values: [
      lanes.map(({ consumer }) => consumer),
      lanes.map(({ partition }) => partition),
      lanes.map(({ epoch }) => epoch),
      leaseMs,
      lanes.map(({ holder }) => holder),
    ],
  });
  return lanes.filter(
    ({ consumer, partition, epoch }) =>
      !rows.some((row) => row.consumer === consumer && row.partition === partition && row.epoch === epoch),
  );
}

/** Releases the lane, so that another worker can take it at once. Does nothing when this process lost it. */
export async function releaseLane(db: Queryable, lane: Lane): Promise<void> {
  await db.query(
    `UPDATE log_lanes SET held_by = NULL, held_until = NULL
     WHERE consumer = $1 AND partition = $2 AND epoch = $3 AND held_by = $4`,
    [lane.consumer, lane.partition, lane.epoch, lane.holder],
  );
}

/**
 * Records the range about to be inserted. May be repeated.
 * @throws {LaneLost}
 */
export async function commitIntent(db: Queryable, lane: Lane, intent: Intent): Promise<void> {
  const { rowCount } = await db.query(
    `UPDATE log_lanes SET intent = $4, updated_at = now()
     WHERE consumer = $1 AND partition = $2 AND epoch = $3 AND held_by = $6 AND next_offset = $5`,
    [lane.consumer, lane.partition, lane.epoch, toRecord(intent), String(intent.from), lane.holder],
  );
  if (rowCount !== 1) throw new LaneLost(lane);
}

/**
 * Moves a lane that was just taken to an offset that the log can read, and drops its intent. Call it before any other
 * write: those are fenced by the offset too. May be repeated.
 *
 * @throws {LaneLost}
 */
export async function resetLane(db: Queryable, lane: Lane, to: bigint): Promise<void> {
  const { rowCount } = await db.query(
    `UPDATE log_lanes SET next_offset = $4, intent = NULL, updated_at = now()
     WHERE consumer = $1 AND partition = $2 AND epoch = $3 AND held_by = $6 AND next_offset IN ($4, $5)`,
    [lane.consumer, lane.partition, lane.epoch, String(to), String(lane.nextOffset), lane.holder],
  );
  if (rowCount !== 1) throw new LaneLost(lane);
}

/**
 * Locks the lane's row for the rest of the transaction, which fences every write in it.
 *
 * @returns the lane's offset: past the caller's range when an earlier attempt committed and its response was lost
 * @throws {LaneLost}
 */
export async function lockLane(transaction: Queryable, lane: Lane): Promise<bigint> {
  const { rows } = await transaction.query<{ epoch: number; held_by: string | null; next_offset: string }>(
    'SELECT epoch, held_by, next_offset FROM log_lanes WHERE consumer = $1 AND partition = $2 FOR UPDATE',
    [lane.consumer, lane.partition],
  );
  const row = rows[0];
  if (row?.epoch !== lane.epoch || row.held_by !== lane.holder) throw new LaneLost(lane);
  return BigInt(row.next_offset);
}

/**
 * Advances the lane and clears its intent. Call it after {@link lockLane}, in the same transaction, which
 * must not commit when this throws.
 */
export async function advanceLane(transaction: Queryable, lane: Lane, nextOffset: bigint): Promise<void> {
  const { rows } = await transaction.query<{ before: string }>(
    `UPDATE log_lanes SET next_offset = $4, intent = NULL, updated_at = now()
     FROM (SELECT next_offset AS before FROM log_lanes WHERE consumer = $1 AND partition = $2 FOR UPDATE) AS former
     WHERE consumer = $1 AND partition = $2 AND epoch = $3 AND held_by = $5 RETURNING before`,
    [lane.consumer, lane.partition, lane.epoch, String(nextOffset), lane.holder],
  );
  const [row] = rows;
  if (!row) throw new LaneLost(lane);
  assertInvariant(
    'lane_forward',
    nextOffset >= BigInt(row.before),
    () => `${lane.consumer}/${lane.partition} at ${row.before} was to advance to ${nextOffset}`,
  );
}

/**
 * Returns the lowest and highest offset of a partition's consumers. Neither a consumer nor a replica that is behind
 * needs events below `least`, except replicas that the log has lost. A
 * `greatest` past the log's end belongs to an earlier log and says nothing about this one.
 *
 * @returns null when no consumer has started
 */
export async function laneOffsets(
  db: Queryable,
  partition: string,
): Promise<{ least: bigint; greatest: bigint } | null> {
  const { rows } = await db.query<{ least: string | null; greatest: string | null }>({
    name: 'lane_offsets',
    text: `SELECT least(min(next_offset),
         (SELECT min(next_offset) FROM replica_lanes WHERE partition = $1 AND lost_at IS NULL)) AS least,
       max(next_offset) AS greatest FROM log_lanes WHERE partition = $1`,
    values: [partition],
  });
  const { least = null, greatest = null } = rows[0] ?? {};
  return least === null || greatest === null ? null : { least: BigInt(least), greatest: BigInt(greatest) };
}
