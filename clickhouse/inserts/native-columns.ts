/**
 * Columns of one block in ClickHouse's Native format, written by hand: ClickHouse parses it faster than RowBinary and
 * JSON (`bench/insert-formats.ts`), and low-cardinality text becomes an index.
 *
 * Source of the layout: ClickHouse `docs/en/interfaces/formats/Native.md` and `SerializationLowCardinality.cpp`.
 */
export type NativeColumn = {
  readonly name: string;
  /** As the block announces it; the server casts it to the table's type. */
  readonly type: string;
  /** The column's data, in pieces, once every row has been put. */
  pieces(): Uint8Array[];
};

/** The id where there is no visitor or no link. */
export const NO_UUID: Uint8Array = new Uint8Array(16);

/** UUIDs: each half of the 16 bytes is a little-endian number in ClickHouse. */
export type UuidColumn = NativeColumn & {
  /** @param from where the 16 bytes begin in `uuid`; 0 when left out */
  put(row: number, uuid: Uint8Array, from?: number): void;
};

export function uuidColumn(name: string, rows: number): UuidColumn {
  const bytes = Buffer.allocUnsafe(rows * 16);
  return {
    name,
    type: 'UUID',
    put(row, uuid, from = 0) {
      const at = row * 16;
      for (let i = 0; i < 8; i++) {
        bytes[at + i] = uuid[from + 7 - i] ?? 0;
        bytes[at + 8 + i] = uuid[from + 15 - i] ?? 0;
      }
    },
    pieces: () => [bytes],
  };
}

/** Any number of UUIDs in each row. Rows are put in order, from 0. */
export type UuidsColumn = NativeColumn & { put(row: number, uuids: readonly Uint8Array[]): void };

export function uuidsColumn(name: string, rows: number): UuidsColumn {
  // The end of each row in the column of all UUIDs that follows.
  const ends = new BigUint64Array(rows);
  const all: Uint8Array[] = [];
  return {
    name,
    type: 'Array(UUID)',
    put(row, uuids) {
      for (const uuid of uuids) all.push(uuid);
      ends[row] = BigInt(all.length);
    },
    pieces() {
      const elements = uuidColumn(name, all.length);
      all.forEach((uuid, n) => {
        elements.put(n, uuid);
      });
      return [new Uint8Array(ends.buffer), ...elements.pieces()];
    },
  };
}

/** The `ts` of an event: microseconds of its stream's clock, and the stream's ordinal as the last three digits. */
export type TimeColumn = NativeColumn & { put(row: number, micros: number, ordinal: number): void };

const TWO_32 = 2 ** 32;

export function timeColumn(name: string, rows: number): TimeColumn {
  const words = new Uint32Array(rows * 2);
  return {
    name,
    type: "DateTime64(9, 'UTC')",
    put(row, micros, ordinal) {
      // micros * 1000 + ordinal is beyond 2^53: two halves of 32 bits are faster than a BigInt.
      const high = Math.floor(micros / TWO_32);
      const low = (micros - high * TWO_32) * 1000 + ordinal;
      const carry = Math.floor(low / TWO_32);
      words[row * 2] = low - carry * TWO_32;
      words[row * 2 + 1] = high * 1000 + carry;
    },
    pieces: () => [new Uint8Array(words.buffer)],
  };
}

export type BigIntColumn = NativeColumn & { put(row: number, value: bigint): void };

export function uint64Column(name: string, rows: number): BigIntColumn {
  const words = new BigUint64Array(rows);
  return {
    name,
    type: 'UInt64',
    put(row, value) {
      words[row] = value;
    },
    pieces: () => [new Uint8Array(words.buffer)],
  };
}

export function int64Column(name: string, rows: number): BigIntColumn {
  const words = new BigInt64Array(rows);
  return {
    name,
    type: 'Int64',
    put(row, value) {
      words[row] = value;
    },
    pieces: () => [new Uint8Array(words.buffer)],
  };
}

export type NumberColumn = NativeColumn & { put(row: number, value: number): void };

export function uint16Column(name: string, rows: number): NumberColumn {
  const words = new Uint16Array(rows);
  return {
    name,
    type: 'UInt16',
    put(row, value) {
      words[row] = value;
    },
    pieces: () => [new Uint8Array(words.buffer)],
  };
}

export function uint32Column(name: string, rows: number): NumberColumn {
  const words = new Uint32Array(rows);
  return {
    name,
    type: 'UInt32',
    put(row, value) {
      words[row] = value;
    },
    pieces: () => [new Uint8Array(words.buffer)],
  };
}

/** Names of an enumeration. @param names each name's number is its index */
export function enum8Column<Name extends string>(
  name: string,
  rows: number,
  names: readonly Name[],
): NativeColumn & { put(row: number, value: Name): void } {
  const bytes = new Uint8Array(rows);
  return {
    name,
    type: `Enum8(${names.map((text, number) => `'${text}' = ${number}`).join(', ')})`,
    put(row, value) {
      bytes[row] = names.indexOf(value);
    },
    pieces: () => [bytes],
  };
}

export function float64Column(name: string, rows: number): NumberColumn {
  const words = new Float64Array(rows);
  return {
    name,
    type: 'Float64',
    put(row, value) {
      words[row] = value;
    },
    pieces: () => [new Uint8Array(words.buffer)],
  };
}

export type BoolColumn = NativeColumn & { put(row: number, value: boolean): void };

export function boolColumn(name: string, rows: number): BoolColumn {
  const bytes = new Uint8Array(rows);
  return {
    name,
    type: 'Bool',
    put(row, value) {
      bytes[row] = value ? 1 : 0;
    },
    pieces: () => [bytes],
  };
}

/** Text of any kind. Rows are put in order, from 0. */
export type TextColumn = NativeColumn & { put(row: number, text: string): void };

export function textColumn(name: string, rows: number): TextColumn {
  const writer = textWriter(rows * 16 + 64);
  return {
    name,
    type: 'String',
    put: (_row, text) => writer.write(text),
    pieces: () => [writer.bytes()],
  };
}

/** Returns one block of columns, each of which has been put `rows` times, as pieces to be sent in order. */
export function nativeBlock(columns: readonly NativeColumn[], rows: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const head = textWriter(32);
  head.varint(columns.length);
  head.varint(rows);
  pieces.push(head.bytes());
  for (const column of columns) {
    const title = textWriter(64);
    title.write(column.name);
    title.write(column.type);
    pieces.push(title.bytes(), ...column.pieces());
  }
  return pieces;
}

/** Returns numbers of 64 bits, little-endian. */
export function words64(...values: bigint[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(values).buffer);
}

/** Length-prefixed UTF-8 into a buffer that grows. */
export function textWriter(capacity: number) {
  let buffer = Buffer.allocUnsafe(capacity);
  let used = 0;

  function reserve(size: number): void {
    if (used + size <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + size));
    buffer.copy(larger, 0, 0, used);
    buffer = larger;
  }

  function varint(value: number): void {
    reserve(5);
    let rest = value;
    while (rest > 0x7f) {
      buffer[used++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[used++] = rest;
  }

  function write(text: string): void {
    // A UTF-16 unit is at most three bytes of UTF-8: short text fits a one-byte length without being measured.
    if (text.length <= 42) {
      reserve(1 + text.length * 3);
      const size = buffer.write(text, used + 1, 'utf8');
      buffer[used] = size;
      used += 1 + size;
      return;
    }
    const size = Buffer.byteLength(text, 'utf8');
    varint(size);
    reserve(size);
    used += buffer.write(text, used, 'utf8');
  }

  return { varint, write, bytes: (): Uint8Array => buffer.subarray(0, used) };
}
