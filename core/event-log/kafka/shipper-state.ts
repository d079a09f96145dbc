import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The state of a stream's shipper: its partition, and the journal offset below which Kafka has everything. The
 * partition changes only once workers have stored all that was sent to it. Otherwise batches could overtake each
 * other, and the overtaken ones would be dropped as duplicates.
 */
export type ShipperState = {
  /** Cluster and topic of the log. Another log has nothing yet. */
  log: string;
  partition: number;
  offset: bigint;
  /** The newest sequence below `offset`; -1: none. */
  acknowledged: bigint;
  /** The newest sequence that the journal truncated under pressure, before workers had stored it; -1: none. */
  truncatedAhead: bigint;
};

type StoredState = {
  log: string;
  partition: number;
  offset: string;
  acknowledged: string;
  truncated_ahead: string;
};
const FILE = 'shipped.json';

/** Reads the state; null before the first start with Kafka. */
export function readShipperState(directory: string): ShipperState | null {
  let text: string;
  try {
    text = readFileSync(join(directory, FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const stored: unknown = JSON.parse(text);
  if (!isStoredState(stored)) throw new Error(`${join(directory, FILE)} is not a valid state of a shipper`);
  return {
    log: stored.log,
    partition: stored.partition,
    offset: BigInt(stored.offset),
    acknowledged: BigInt(stored.acknowledged),
    truncatedAhead: BigInt(stored.truncated_ahead),
  };
}

/**
 * Saves the state. With an older state, a start only sends batches again, which consumers drop as duplicates.
 *
 * @throws the error of the disk, such as a full one: it needs a free block
 */
export function writeShipperState(directory: string, state: ShipperState): void {
  const fresh = join(directory, `${FILE}.new`);
  const file = openSync(fresh, 'w', 0o600);
  try {
    const { log, partition, offset, acknowledged, truncatedAhead } = state;
    const stored = {
      log,
      partition,
      offset: String(offset),
      acknowledged: String(acknowledged),
      truncated_ahead: String(truncatedAhead),
    };
    writeFileSync(file, JSON.stringify(stored));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, join(directory, FILE));
}

function isStoredState(stored: unknown): stored is StoredState {
  const { log, partition, offset, acknowledged, truncated_ahead } = (stored ?? {}) as Record<string, unknown>;
  return (
    typeof log === 'string' &&
    Number.isInteger(partition) &&
    Number(partition) >= 0 &&
    matches(/^\d+$/, offset) &&
    matches(/^(-1|\d+)$/, acknowledged) &&
    matches(/^(-1|\d+)$/, truncated_ahead)
  );
}

const matches = (pattern: RegExp, value: unknown) => typeof value === 'string' && pattern.test(value);
