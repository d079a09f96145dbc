import { readFileSync } from 'node:fs';
import type { NetworkTable } from './networks.ts';

/** Tables of both address families. */
export type NetworkTables = { v4: NetworkTable; v6: NetworkTable };

/** Written in the machine's byte order, like the tables. */
const MAGIC = 0x484c_4e31;
const HEADER_BYTES = 128;
const VERSION_AT = 16;
const BYTES_OF = { key4: 4, key6: 8, asn: 4 };

/**
 * Returns the content of a file of the tables, for {@link readNetworkFile}.
 *
 * @param version of the package that the tables come from, at most 100 characters
 */
export function networkFile({ v4, v6 }: NetworkTables, version: string): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(HEADER_BYTES);
  new Uint32Array(header.buffer, header.byteOffset, 3).set([MAGIC, v4.keys.length, v6.keys.length]);
  header.write(version, VERSION_AT, 'latin1');
  // The keys of IPv6 come first, because their numbers must begin at a multiple of eight bytes.
  const tables = [v6.keys, v6.asn, v4.keys, v4.asn];
  return Buffer.concat([
    header,
    ...tables.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  ]);
}

/**
 * Reads a file of the tables in milliseconds; the tables of the package take half a second.
 *
 * @returns null when there is no such file, or it is not whole or of another version
 */
export function readNetworkFile(path: string, version: string): NetworkTables | null {
  const file = contentOf(path);
  if (file === null || file.byteLength < HEADER_BYTES) return null;
  const [magic, v4Size = 0, v6Size = 0] = new Uint32Array(file, 0, 3);
  const header = Buffer.from(file, 0, HEADER_BYTES);
  const [of] = header.toString('latin1', VERSION_AT).split('\0');
  const sizes = [
    v6Size * BYTES_OF.key6,
    v6Size * BYTES_OF.asn,
    v4Size * BYTES_OF.key4,
    v4Size * BYTES_OF.asn,
  ];
  const whole = sizes.reduce((sum, bytes) => sum + bytes, HEADER_BYTES);
  if (magic !== MAGIC || of !== version || whole !== file.byteLength) return null;
  const v6AsnAt = HEADER_BYTES + v6Size * BYTES_OF.key6;
  const v4KeysAt = v6AsnAt + v6Size * BYTES_OF.asn;
  const v4AsnAt = v4KeysAt + v4Size * BYTES_OF.key4;
  return {
    v6: { keys: new Float64Array(file, HEADER_BYTES, v6Size), asn: new Uint32Array(file, v6AsnAt, v6Size) },
    v4: { keys: new Uint32Array(file, v4KeysAt, v4Size), asn: new Uint32Array(file, v4AsnAt, v4Size) },
  };
}

/** @returns the file's bytes in memory that holds nothing else; null when it cannot be read */
function contentOf(path: string): ArrayBuffer | null {
  try {
    const { buffer, byteOffset, byteLength } = readFileSync(path);
    if (byteLength === buffer.byteLength) return buffer;
    return buffer.slice(byteOffset, byteOffset + byteLength);
  } catch {
    return null; // it only saves time
  }
}
