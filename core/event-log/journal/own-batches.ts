import { open } from 'node:fs/promises';
import type { LogBatch } from '../port.ts';
import { scanSegment } from './segment-scan.ts';
import { listSegments, missingIsNull, type Segment, streamDirectory } from './segments.ts';

const READ_BYTES = 4 * 1024 * 1024;

/**
 * Yields the batches of a stream's journal that hold events beyond `afterSequence`. Beyond the stream's high-water
 * mark, these are the events that no consumer has stored. The first batch may also hold events up to `afterSequence`.
 * Damage is skipped.
 *
 * @param dataDir the deployment's data directory
 * @param afterSequence -1 for everything
 */
export async function* ownBatches(
  dataDir: string,
  streamName: string,
  afterSequence: bigint,
): AsyncGenerator<LogBatch> {
  const segments = await listSegments(streamDirectory(dataDir, streamName));
  for (const segment of segments.slice(await firstSegment(segments, afterSequence))) {
    for await (const batch of segmentBatches(segment)) {
      if (batch.firstSequence + BigInt(batch.count) - 1n > afterSequence) yield batch;
    }
  }
}

/**
 * Returns the journal offset below which a stream has nothing beyond `sequence`, by whole segments.
 *
 * @returns null when the stream has no segment
 */
export async function offsetHolding(
  dataDir: string,
  streamName: string,
  sequence: bigint,
): Promise<bigint | null> {
  const segments = await listSegments(streamDirectory(dataDir, streamName));
  return segments[await firstSegment(segments, sequence)]?.start ?? null;
}

async function firstSegment(segments: Segment[], afterSequence: bigint): Promise<number> {
  for (let index = segments.length - 1; index > 0; index--) {
    const segment = segments[index];
    if (!segment) continue;
    for await (const batch of segmentBatches(segment, 1)) {
      if (batch.firstSequence <= afterSequence) return index;
      break;
    }
  }
  return 0;
}

async function* segmentBatches(segment: Segment, readBytes = READ_BYTES): AsyncGenerator<LogBatch> {
  const file = await open(segment.path, 'r').catch(missingIsNull);
  if (!file) return;
  try {
    for (let position = 0; ; ) {
      // Read as sealed: batches behind damage count too, and the scan waits for nothing.
      const scan = await scanSegment(file, segment.start, position, {
        sealed: true,
        maxBytes: readBytes,
        searchBytes: 0,
      });
      yield* scan.batches;
      position = scan.position;
      if (scan.ended === 'finished') return;
    }
  } finally {
    await file.close();
  }
}
