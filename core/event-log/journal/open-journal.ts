import { mkdirSync } from 'node:fs';
import type { Registry } from 'prom-client';
import type { AddressSealer } from '../../events/address-seal.ts';
import type { Logger } from '../../log.ts';
import type { NewStream, StreamIdentity } from '../port.ts';
import { EpochFile } from './epoch-file.ts';
import { recover } from './recovery.ts';
import { SegmentSupply } from './segment-supply.ts';
import { DIRECTORY_MODE, streamDirectory } from './segments.ts';
import { createWallClock, type MicrosecondClock } from './stream-clock.ts';
import { readIdentityFile, writeIdentityFile } from './stream-identity.ts';
import { JournalWriter } from './writer.ts';
import { lockStream } from './writer-lock.ts';

/** Full segments; see `bench/journal.ts`. Smaller where the budget is small, so that freeing makes room soon. */
const SEGMENT_BYTES = 32 * 1024 * 1024;
const SEGMENTS_IN_BUDGET = 8;

export type JournalOptions = {
  dataDir: string;
  streamName: string;
  /** Asked once in a stream's life: registers it (Postgres) and answers who it is. */
  register: () => Promise<NewStream>;
  syncMs: number;
  budgetBytes: number;
  sealer: AddressSealer;
  log: Logger;
  registry: Registry;
  /** Instead of the wall clock. */
  clock?: { now: MicrosecondClock; check(): void };
};

/**
 * Opens a stream's journal for writing: locks its directory, makes it on the first start, recovers it after a
 * crash and begins a new epoch.
 *
 * @throws {StreamLockedError} when another process writes it
 * @throws what `register` throws on the first start, and Error when the disk refuses the start itself
 */
export async function openJournal(options: JournalOptions): Promise<JournalWriter> {
  const directory = streamDirectory(options.dataDir, options.streamName);
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  const lock = lockStream(directory);
  let epochFile: EpochFile | undefined;
  try {
    epochFile = new EpochFile(directory);
    const stream = await identityOf(directory, epochFile, options.register);
    const recovered = await recover(directory, epochFile, options.log);
    const segmentBytes = Math.min(SEGMENT_BYTES, Math.floor(options.budgetBytes / SEGMENTS_IN_BUDGET));
    const { budgetBytes, log, sealer, registry, syncMs } = options;
    const supply = await SegmentSupply.open({ directory, segmentBytes, budgetBytes, log }, recovered.start);
    const clock = options.clock ?? createWallClock();
    log.info({ directory, epoch: recovered.epoch, offset: recovered.start.toString() }, 'journal opened');
    return new JournalWriter(
      { stream, syncMs, segmentBytes, sealer, clock, log, registry },
      { recovered, epochFile, supply, lock },
    );
  } catch (error) {
    epochFile?.close();
    lock.release();
    throw error;
  }
}

/**
 * The identity in the directory; a new one when there is none, or when the epoch is unknown: then sequences of
 * the old identity might be given twice, and consumers would drop the second ones.
 */
async function identityOf(
  directory: string,
  epochFile: EpochFile,
  register: () => Promise<NewStream>,
): Promise<StreamIdentity> {
  const kept = readIdentityFile(directory);
  if (kept && epochFile.record) return kept;
  const { notBefore = 0, ...stream } = await register();
  const { epoch, floor, lastTs } = epochFile.record ?? { epoch: 0, floor: 0n, lastTs: 0 };
  epochFile.write({ epoch, floor, lastTs: Math.max(lastTs, notBefore) });
  writeIdentityFile(directory, stream);
  return stream;
}
