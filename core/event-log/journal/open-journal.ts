import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Registry } from 'prom-client';
import type { AddressSealer } from '../../events/address-seal.ts';
import { uuidv7 } from '../../ids.ts';
import type { Logger } from '../../tier/log.ts';
import { createWallClock, type MicrosecondClock, type WallClock } from '../../time/wall-clock.ts';
import { type NewStream, NOTHING_RECORDED, type StreamIdentity, type StreamRecord } from '../port.ts';
import { EpochFile } from './epoch-file.ts';
import { recover } from './recovery.ts';
import { SegmentSupply } from './segment-supply.ts';
import { DIRECTORY_MODE, streamDirectory } from './segments.ts';
import { readIdentityFile, writeIdentityFile } from './stream-identity.ts';
import { syncDirectoryNow } from './sync-directory.ts';
import { JournalWriter } from './writer.ts';
import { lockStream } from './writer-lock.ts';

/** Size of a full segment (`bench/journal.ts`). A small budget has smaller ones, so that truncation soon makes room. */
const SEGMENT_BYTES = 32 * 1024 * 1024;
const SEGMENTS_IN_BUDGET = 8;
/** A day, which bounds how long an event stays in the file that is written to. */
const SEGMENT_AGE_MS = 24 * 3_600_000;

export type JournalOptions = {
  dataDir: string;
  streamName: string;
  /**
   * Registers the stream in PostgreSQL and returns its identity. Called once in a stream's life; again with the same
   * id when the outcome is unknown, or with its former ordinal when PostgreSQL has lost the stream.
   */
  register: (streamId: string, former: number | null) => Promise<NewStream>;
  /** Returns what PostgreSQL knows of the stream, at each start. When it fails or is left out, nothing is known. */
  recorded?: (streamId: string) => Promise<StreamRecord>;
  /** Returns whether an operator wants the time set back. Called every two seconds while the stream's time is ahead. */
  isClockResetRequested?: (streamId: string) => Promise<boolean>;
  syncMs: number;
  budgetBytes: number;
  /** For tests: age at which a segment with events is closed, so that it can be removed. Milliseconds. */
  segmentAgeMs?: number;
  sealer: AddressSealer;
  log: Logger;
  registry: Registry;
  clock?: WallClock | { now: MicrosecondClock };
};

/**
 * Opens a stream's journal for writing: locks its directory, creates it on the first start, recovers it after a
 * crash, and begins a new epoch.
 *
 * @throws {StreamLockedError} when another process writes it
 * @throws what `register` throws on the first start, and Error when the disk fails
 */
export async function openJournal(options: JournalOptions): Promise<JournalWriter> {
  const directory = streamDirectory(options.dataDir, options.streamName);
  makeDirectory(directory);
  const lock = lockStream(directory);
  let epochFile: EpochFile | undefined;
  try {
    epochFile = new EpochFile(directory);
    const { stream, record } = await identityOf(directory, epochFile, options);
    const clock = options.clock ? guarded(options.clock) : createWallClock();
    const recovered = await recover(directory, epochFile, { now: clock.now, record, log: options.log });
    const segmentBytes = Math.min(SEGMENT_BYTES, Math.floor(options.budgetBytes / SEGMENTS_IN_BUDGET));
    const { budgetBytes, log, sealer, registry, syncMs, isClockResetRequested = async () => false } = options;
    const segmentAgeMs = options.segmentAgeMs ?? SEGMENT_AGE_MS;
    const supply = await SegmentSupply.open(
      { directory, segmentBytes, budgetBytes, syncMs, log },
      recovered.start,
    );
    log.info({ directory, epoch: recovered.epoch, offset: recovered.start.toString() }, 'journal opened');
    return new JournalWriter(
      {
        ...{ directory, stream, syncMs, segmentBytes, segmentAgeMs },
        ...{ sealer, clock, isClockResetRequested, log, registry },
      },
      { recovered, epochFile, supply, lock },
    );
  } catch (error) {
    epochFile?.close();
    lock.release();
    throw error;
  }
}

/** A clock that only tells the time is assumed to be right. */
function guarded(clock: WallClock | { now: MicrosecondClock }): WallClock {
  return 'wall' in clock
    ? clock
    : { now: clock.now, wall: clock.now, check: () => null, set: () => undefined };
}

/** Creates a directory and syncs its name, and those of new parents, so that it survives a power cut. */
function makeDirectory(directory: string): void {
  const made = mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  if (made === undefined) return;
  const first = resolve(made);
  for (let at = resolve(directory); at.length >= first.length; at = dirname(at))
    syncDirectoryNow(dirname(at));
}

/**
 * Returns the identity in the directory. A new one is made when there is none, and
 *
 * - when the epoch is unknown: sequences of the old identity might be assigned twice, and consumers would drop the
 *   second ones;
 * - when the stream was retired: the watermark has passed it, and pollers would miss its events. Its journal is
 *   delivered under the old identity.
 *
 * A stream that PostgreSQL does not know, after a restore from an older backup, is registered again under its id.
 * Otherwise workers would set its events aside.
 *
 * The id is chosen and synced before it is registered, so a start that fails in between leaves no second stream. A
 * stream without a writer would hold the watermark.
 */
async function identityOf(
  directory: string,
  epochFile: EpochFile,
  {
    register,
    recorded = async () => NOTHING_RECORDED,
    log,
  }: Pick<JournalOptions, 'register' | 'recorded' | 'log'>,
): Promise<{ stream: StreamIdentity; record: StreamRecord }> {
  let identity = readIdentityFile(directory);
  if (identity !== null && identity.ordinal !== null && epochFile.record === null) identity = null;
  let streamId = identity?.streamId ?? uuidv7();
  const record = await recorded(streamId).catch((error: unknown) => {
    log.warn({ err: error, directory }, 'failed to read the record of the stream; continuing');
    return NOTHING_RECORDED;
  });
  if (record.state === 'retired') {
    log.warn({ directory, stream: streamId }, 'the stream was retired; registering a new one');
    identity = null;
    streamId = uuidv7();
  }
  const former = identity?.ordinal ?? null;
  if (identity !== null && former !== null) {
    if (record.state !== 'unregistered') return { stream: { ...identity, ordinal: former }, record };
    log.warn({ directory, stream: streamId }, 'PostgreSQL does not know the stream; registering it again');
  }
  if (identity === null) writeIdentityFile(directory, { streamId, ordinal: null });
  const { notBefore = 0, ...stream } = await register(streamId, former);
  const before = epochFile.record ?? { epoch: 0, floor: 0n, lastTs: 0 };
  epochFile.write({ ...before, lastTs: Math.max(before.lastTs, notBefore) });
  writeIdentityFile(directory, stream);
  return { stream, record };
}
