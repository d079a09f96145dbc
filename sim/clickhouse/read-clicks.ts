/** A click as an insert has it. */
export type InsertedClick = {
  /** Names the event: `<ordinal>/<sequence>`. */
  event: `${number}/${bigint}`;
  ordinal: number;
  sequence: bigint;
  /** Microseconds. */
  ts: number;
  /** 16 bytes. */
  linkId: Buffer;
};

const UUID_BYTES = 16;
/** The columns that a block of clicks begins with, and their bytes in each row. */
const FIRST: readonly (readonly [string, number])[] = [
  ['workspace_id', UUID_BYTES],
  ['ts', 8],
  ['link_id', UUID_BYTES],
  ['visitor_id', UUID_BYTES],
  ['sequence', 8],
];

/** Reads the rows of a block in the Native format, as far as the simulator needs them. */
export function readClicks(block: Buffer): InsertedClick[] {
  let at = 0;

  function varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = block.readUInt8(at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  function text(): string {
    const length = varint();
    at += length;
    return block.toString('utf8', at - length, at);
  }

  varint(); // the number of columns
  const count = varint();
  const columns = FIRST.map(([name, bytes]) => {
    const found = text();
    if (found !== name) throw new Error(`a block of clicks has ${found} in the place of ${name}`);
    text(); // the type
    at += count * bytes;
    return block.subarray(at - count * bytes, at);
  });
  const [, times, links, , sequences] = columns;
  return Array.from({ length: count }, (_, row) => {
    const nanos = times?.readBigUInt64LE(row * 8) ?? 0n;
    const sequence = sequences?.readBigUInt64LE(row * 8) ?? 0n;
    const ordinal = Number(nanos % 1_000n);
    const linkId = uuidAt(links ?? block, row * UUID_BYTES);
    return { event: `${ordinal}/${sequence}`, ordinal, sequence, ts: Number(nanos / 1_000n), linkId };
  });
}

/** Each half of the 16 bytes is a little-endian number in ClickHouse. */
function uuidAt(bytes: Buffer, at: number): Buffer {
  const uuid = Buffer.from(bytes.subarray(at, at + UUID_BYTES));
  uuid.subarray(0, 8).reverse();
  uuid.subarray(8).reverse();
  return uuid;
}
