import { bytesToUuid, uuidToBytes } from '../../core/ids.ts';
import { encodeFrame, OPERATIONS, type Take } from './frames.ts';
import { decodeKey, encodeKey, type KnownKey } from './known-key.ts';
import type { SyncPoint } from './loader.ts';
import type { LinkTable } from './table.ts';

/** A change of the table as a frame, or where it stands behind those that came before. */
export const changeFrame = {
  put: (record: Uint8Array) => encodeFrame(OPERATIONS.put, record),
  remove: (id: Uint8Array) => encodeFrame(OPERATIONS.remove, id),
  putKey: (key: KnownKey) => encodeFrame(OPERATIONS.putKey, encodeKey(key)),
  /** @param id the key's id */
  removeKey: (id: string) => encodeFrame(OPERATIONS.removeKey, uuidToBytes(id)),
  stand: (syncPoint: SyncPoint) => encodeFrame(OPERATIONS.stand, Buffer.from(JSON.stringify(syncPoint))),
};

/**
 * Makes the changes in the table that frames tell.
 *
 * @param put what to do with a record
 * @param stand what to do with where the table stands then
 */
export function changing(
  table: LinkTable,
  put: (record: Buffer) => void,
  stand: (syncPoint: SyncPoint) => void = () => {},
): Take {
  return (operation, payload) => {
    if (operation === OPERATIONS.put) put(payload);
    else if (operation === OPERATIONS.remove) table.remove(payload);
    else if (operation === OPERATIONS.putKey) table.putKey(decodeKey(payload));
    else if (operation === OPERATIONS.removeKey) table.removeKey(bytesToUuid(payload));
    else if (operation === OPERATIONS.stand) stand(JSON.parse(payload.toString()) as SyncPoint);
  };
}
