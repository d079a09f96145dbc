import { bytesToUuid, uuidToBytes } from '../../core/ids.ts';
import type { PublishableKeyRow } from '../../sql/links/link-table.ts';

/** A publishable key as `/collect` needs it. */
export type KnownKey = { id: string; lookup: string; hash: Buffer; workspaceId: string };

export function keyOf(row: PublishableKeyRow): KnownKey {
  return { id: row.id, lookup: row.lookup, hash: row.hash, workspaceId: row.workspace_id };
}

/** Encodes a key as `16 bytes id | 16 bytes workspace | 32 bytes hash | 8 characters lookup`. */
export function encodeKey(key: KnownKey): Buffer {
  return Buffer.concat([
    uuidToBytes(key.id),
    uuidToBytes(key.workspaceId),
    key.hash,
    Buffer.from(key.lookup, 'latin1'),
  ]);
}

/** Decodes a key. The result shares no memory with `bytes`. */
export function decodeKey(bytes: Buffer): KnownKey {
  return {
    id: bytesToUuid(bytes, 0),
    workspaceId: bytesToUuid(bytes, 16),
    hash: Buffer.from(bytes.subarray(32, 64)),
    lookup: bytes.toString('latin1', 64, 72),
  };
}
