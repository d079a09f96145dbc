import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid } from '../../ids.ts';
import type { StreamIdentity } from '../port.ts';
import { FILE_MODE, streamDirectory } from './segments.ts';
import { syncDirectoryNow } from './sync-directory.ts';

const FILE_NAME = 'stream.json';

/** An id that was chosen for a stream. PostgreSQL may know it or not; nothing was written under it. */
export type ChosenIdentity = { streamId: string; ordinal: null };

/**
 * Returns the registered identity beside a stream's journal; null when there is none that can be read.
 *
 * @param dataDir the deployment's data directory
 */
export function readStreamIdentity(dataDir: string, streamName: string): StreamIdentity | null {
  const identity = readIdentityFile(streamDirectory(dataDir, streamName));
  return identity === null || identity.ordinal === null ? null : identity;
}

/** Returns the identity in the stream's own directory, registered or only chosen. */
export function readIdentityFile(directory: string): StreamIdentity | ChosenIdentity | null {
  let text: string;
  try {
    text = readFileSync(join(directory, FILE_NAME), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  return parseIdentity(text);
}

function parseIdentity(text: string): StreamIdentity | ChosenIdentity | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { streamId, ordinal, place } = value as Record<string, unknown>;
  if (typeof streamId !== 'string' || !isUuid(streamId)) return null;
  if (ordinal === null) return { streamId: streamId.toLowerCase(), ordinal };
  if (typeof ordinal !== 'number' || !Number.isInteger(ordinal) || ordinal < 0 || ordinal > 999) return null;
  const identity = { streamId: streamId.toLowerCase(), ordinal };
  return typeof place === 'number' && Number.isSafeInteger(place) ? { ...identity, place } : identity;
}

/** Writes `identity` to the stream's directory, atomically and synced. */
export function writeIdentityFile(directory: string, identity: StreamIdentity | ChosenIdentity): void {
  const path = join(directory, FILE_NAME);
  const making = `${path}.making`;
  writeFileSync(making, `${JSON.stringify(identity)}\n`, { mode: FILE_MODE, flush: true });
  renameSync(making, path);
  syncDirectoryNow(directory);
}
