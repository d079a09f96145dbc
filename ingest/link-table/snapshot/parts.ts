/** Bytes of a part: a process has two of them in memory while it reads a snapshot. */
const PART_BYTES = 8 * 2 ** 20;
const LENGTH_BYTES = 4;

/** Collects records, `u32le length | record` each, to parts of about {@link PART_BYTES}. */
export function* packed(records: Iterable<Buffer>, partBytes = PART_BYTES): Generator<Buffer[]> {
  let part: Buffer[] = [];
  let bytes = 0;
  for (const record of records) {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(record.length);
    part.push(length, record);
    bytes += LENGTH_BYTES + record.length;
    if (bytes < partBytes) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

/** Returns the records of a part. */
export function* recordsIn(part: Buffer): Generator<Buffer> {
  for (let at = 0; at < part.length; ) {
    const end = at + LENGTH_BYTES + part.readUInt32LE(at);
    yield part.subarray(at + LENGTH_BYTES, end);
    at = end;
  }
}
