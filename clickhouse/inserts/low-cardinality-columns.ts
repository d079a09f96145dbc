import {
  type NativeColumn,
  type NumberColumn,
  type TextColumn,
  textWriter,
  uint32Column,
  words64,
} from './native-columns.ts';

/** Keys of the dictionary come first, so that the index is 1, 2 or 4 bytes wide. */
const INDEX_WIDTHS = [Uint8Array, Uint16Array, Uint32Array] as const;
const HAS_KEYS = 0x200n;
const DICTIONARY_VERSION = 1n;
const TYPE = 'LowCardinality(String)';

/** Text with few different values in a block: a dictionary and an index per row. */
export function lowCardinalityColumn(name: string, rows: number): TextColumn {
  const index = indexOf<string>(rows);
  return { name, type: TYPE, put: index.put, pieces: () => dictionary(index.values, index.numbers) };
}

/** Columns of the fields of an object that many rows of a block share, such as a place. */
export type SharedColumns<T> = {
  put(row: number, value: T): void;
  readonly columns: NativeColumn[];
};

/**
 * Creates columns of an object's fields. A row costs one lookup of the object for all columns, and a text is looked up
 * once for each object.
 *
 * @param fields.texts by the name of the column
 * @param fields.numbers from 0 to 2^32 - 1
 */
export function sharedColumns<T extends object>(
  rows: number,
  fields: { texts: Record<string, (value: T) => string>; numbers?: Record<string, (value: T) => number> },
): SharedColumns<T> {
  const index = indexOf<T>(rows);
  const texts = Object.entries(fields.texts).map(([name, textOf]) => ({
    name,
    type: TYPE,
    pieces() {
      const texts = indexOf<string>(index.values.size);
      let value = 0;
      for (const object of index.values.keys()) texts.put(value++, textOf(object));
      return dictionary(texts.values, through(texts.numbers, index.numbers));
    },
  }));
  const numbers = Object.entries(fields.numbers ?? {}).map(([name, numberOf]) => {
    const column: NumberColumn = uint32Column(name, rows);
    return {
      ...column,
      pieces() {
        const all = Uint32Array.from(index.values.keys(), numberOf);
        return [new Uint8Array(through(all, index.numbers).buffer)];
      },
    };
  });
  return { put: index.put, columns: [...texts, ...numbers] };
}

/** Numbers the different values of the rows, from 0 in order of appearance. */
function indexOf<V>(rows: number) {
  const numbers = new Uint32Array(rows);
  const values = new Map<V, number>();
  // Neighboring rows repeat: comparing with the last value saves most lookups.
  let last: V | undefined;
  let lastNumber = 0;
  return {
    values,
    numbers,
    put(row: number, value: V): void {
      if (value !== last || values.size === 0) {
        last = value;
        lastNumber = values.get(value) ?? values.size;
        if (lastNumber === values.size) values.set(value, lastNumber);
      }
      numbers[row] = lastNumber;
    },
  };
}

/** Maps values to rows: returns for each row the number that its value has in `ofValues`. */
function through(ofValues: Uint32Array, numbers: Uint32Array): Uint32Array {
  const ofRows = new Uint32Array(numbers.length);
  for (let row = 0; row < numbers.length; row++) ofRows[row] = ofValues[numbers[row] ?? 0] ?? 0;
  return ofRows;
}

/** Returns the pieces of a column: its dictionary, and for each row the number of its value in the dictionary. */
function dictionary(values: ReadonlyMap<string, number>, numbers: Uint32Array): Uint8Array[] {
  const keys = textWriter(values.size * 16 + 64);
  for (const text of values.keys()) keys.write(text);
  const kind = values.size <= 0x100 ? 0 : values.size <= 0x1_0000 ? 1 : 2;
  const index = new INDEX_WIDTHS[kind](numbers);
  return [
    words64(DICTIONARY_VERSION, HAS_KEYS | BigInt(kind), BigInt(values.size)),
    keys.bytes(),
    words64(BigInt(numbers.length)),
    new Uint8Array(index.buffer),
  ];
}
