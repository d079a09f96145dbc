import { createHash } from 'node:crypto';
import type { FileTarget } from '../../../core/file-targets/target.ts';
import { FIRST_ID } from '../../../sql/links/link-table.ts';
import type { OpenEarlierLinks } from '../earlier-links.ts';
import { type Manifest, type Part, partKey, readManifest, type SnapshotKeys, unusable } from './manifest.ts';
import { recordsIn } from './parts.ts';

/** Reads links from the newest snapshot: a part ahead, and each one only once its length and checksum are right. */
export function fromSnapshot(given: {
  target: FileTarget;
  keys: SnapshotKeys;
  page: number;
}): OpenEarlierLinks {
  const { target, keys, page } = given;
  return async ({ cursor, server }) => {
    const manifest = await readManifest(target, keys);
    if (manifest === null) return null;
    const reason = unusable(manifest, server, Date.now());
    if (reason !== null) throw new Error(`the snapshot in ${target.name} can't be used: ${reason}`);
    if (BigInt(manifest.syncPoint.cursor) > BigInt(cursor))
      throw new Error(`the snapshot in ${target.name} is of a later state of PostgreSQL`);
    const pages = pagesOf(manifest);
    return {
      name: 'snapshot',
      cursor: manifest.syncPoint.cursor,
      async next() {
        const { value } = await pages.next();
        return value ?? null;
      },
      after: () => FIRST_ID,
      async close() {
        void pages.return(undefined);
      },
    };
  };

  async function* pagesOf({ set, parts }: Manifest): AsyncGenerator<Buffer[], undefined> {
    const read = (index: number) => {
      const part = parts[index];
      const reading = part === undefined ? null : partOf(partKey(keys, set, index), part);
      reading?.catch(() => {}); // thrown where it is awaited
      return reading;
    };
    let ahead = read(0);
    for (let index = 0; ahead !== null; index += 1) {
      const bytes: Buffer = await ahead;
      ahead = read(index + 1);
      let records: Buffer[] = [];
      for (const record of recordsIn(bytes)) {
        records.push(record);
        if (records.length < page) continue;
        yield records;
        records = [];
      }
      yield records;
    }
    return undefined;
  }

  async function partOf(key: string, { bytes: length, sha256 }: Part): Promise<Buffer> {
    const found = await target.get(key);
    if (found === null) throw new Error(`${target.name}/${key} is missing`);
    const hash = createHash('sha256').update(found).digest('hex');
    if (found.length !== length || hash !== sha256) throw new Error(`${target.name}/${key} is damaged`);
    return Buffer.from(found.buffer, found.byteOffset, found.length);
  }
}
