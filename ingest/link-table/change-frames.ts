import { bytesToUuid, uuidToBytes } from '../../core/ids.ts';
import { encodeFrame, type FrameHandler, OPERATIONS } from './frames.ts';
import { decodeKey, encodeKey, type KnownKey } from './known-key.ts';
import type { LinkTable } from './table.ts';

/** Encodes a change of the table as a frame. */
export const changeFrame = {
  put: (record: Uint8Array) => encodeFrame(OPERATIONS.put, record),
  remove: (id: Uint8Array) => encodeFrame(OPERATIONS.remove, id),
  putKey: (key: KnownKey) => encodeFrame(OPERATIONS.putKey, encodeKey(key)),
  /** @param id the key's id */
  removeKey: (id: string) => encodeFrame(OPERATIONS.removeKey, uuidToBytes(id)),
  beginLoad: () => encodeFrame(OPERATIONS.beginLoad),
  endLoad: () => encodeFrame(OPERATIONS.endLoad),
};

/**
 * Returns a handler that applies frames to the table.
 *
 * @param put applies a record: `put` or `refresh` of the table
 */
export function createFrameApplier(table: LinkTable, put: (record: Buffer) => void): FrameHandler {
  let loadedKeys = new Set<string>();
  function putKey(key: KnownKey): void {
    loadedKeys.add(key.id);
    table.putKey(key);
  }
  function endLoad(): void {
    for (const _ of table.endLoad());
    for (const { id } of [...table.keys()]) if (!loadedKeys.has(id)) table.removeKey(id);
  }
  return (operation, payload) => {
    if (operation === OPERATIONS.put) put(payload);
    else if (operation === OPERATIONS.remove) table.remove(payload);
    else if (operation === OPERATIONS.putKey) putKey(decodeKey(payload));
    else if (operation === OPERATIONS.removeKey) table.removeKey(bytesToUuid(payload));
    else if (operation === OPERATIONS.beginLoad) {
      loadedKeys = new Set();
      table.beginLoad();
    } else if (operation === OPERATIONS.endLoad) endLoad();
    else throw new RangeError(`unknown operation ${operation}`);
  };
}
