import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';

/**
 * Where a stream's shipper stands: its partition, for ever (were it changed, batches of one stream could overtake each
 * other, and whoever is overtaken is taken for a duplicate), and the journal offset below which Kafka has everything.
 */
export type ShippingPlace = {
  /** Cluster and topic: another one has nothing yet. */
  log: string;
  partition: number;
  offset: bigint;
  /** The newest sequence below `offset`; -1: none. */
  acknowledged: bigint;
  /** The newest sequence that the journal gave up, under pressure, before workers had stored it; -1: none. */
  freedAhead: bigint;
};

const Kept = Type.Object({
  log: Type.String(),
  partition: Type.Integer({ minimum: 0 }),
  offset: Type.String({ pattern: '^\\d+$' }),
  acknowledged: Type.String({ pattern: '^(-1|\\d+)$' }),
  freed_ahead: Type.String({ pattern: '^(-1|\\d+)$' }),
});
const FILE = 'shipped.json';

/** Reads the place, or null before the first start with Kafka. */
export function readPlace(directory: string): ShippingPlace | null {
  let text: string;
  try {
    text = readFileSync(join(directory, FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const kept: unknown = JSON.parse(text);
  if (!Value.Check(Kept, kept))
    throw new Error(`${join(directory, FILE)} does not say where the shipper stands`);
  return {
    log: kept.log,
    partition: kept.partition,
    offset: BigInt(kept.offset),
    acknowledged: BigInt(kept.acknowledged),
    freedAhead: BigInt(kept.freed_ahead),
  };
}

/**
 * Keeps the place. One that is too old only has batches sent again, and those are dropped as duplicates.
 *
 * @throws what the disk says: it needs a free block, so a full one refuses it
 */
export function writePlace(directory: string, place: ShippingPlace): void {
  const fresh = join(directory, `${FILE}.new`);
  const file = openSync(fresh, 'w', 0o600);
  try {
    const { log, partition, offset, acknowledged, freedAhead } = place;
    const kept = {
      log,
      partition,
      offset: String(offset),
      acknowledged: String(acknowledged),
      freed_ahead: String(freedAhead),
    };
    writeFileSync(file, JSON.stringify(kept));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, join(directory, FILE));
}
