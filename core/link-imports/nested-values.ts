import { parsedJson } from './parsed-json.ts';

/** A value in a row, and where it is. */
export type NestedValue = {
  /** The row's own column that has it. */
  top: string;
  /** Its path in the words of the file: `meta.validUntil`. */
  column: string;
  /** The names of its path, each as letters and digits in lower case. */
  path: readonly string[];
  value: unknown;
};

/** Deeper objects are ignored. */
const DEPTH = 4;

/** Objects in a row that are about something else than the link. */
const NOT_OF_LINK =
  /^(?:user|owner|creator|createdby|updatedby|author|account|member|customer|workspace|team|organi[sz]ation|metadata|rules|redirectrules|targeting|geo|testvariants|stats|analytics|utm|folder|tags|partner|program)$/;

const read = new WeakMap<object, readonly NestedValue[]>();

/**
 * Returns the values of a row and of the objects and lists in it, also of JSON in a cell of CSV, except of those about
 * something else than the link.
 */
export function nestedValues(values: object): readonly NestedValue[] {
  const found = read.get(values) ?? [...valuesIn(values, null)];
  read.set(values, found);
  return found;
}

/**
 * Returns all values of a row that are in the objects and lists in it, also of those about something else than the
 * link. An object that is too deep, and a list of plain values, is one value.
 */
export function everyValue(values: object): readonly NestedValue[] {
  return [...valuesIn(values, null, true)];
}

function* valuesIn(values: object, around: NestedValue | null, isEvery = false): Generator<NestedValue> {
  for (const [name, value] of Object.entries(values)) {
    const found: NestedValue = {
      top: around?.top ?? name,
      column: around === null ? name : `${around.column}.${name}`,
      // `meta.validUntil` as a column of CSV
      path: [...(around?.path ?? []), ...name.split('.').map(lettersOf)],
      value,
    };
    const inner = objectIn(value);
    const outer = inner === null ? found.path.slice(0, -1) : found.path;
    if (isEvery) {
      const isOne = inner === null || outer.length > DEPTH || isPlainList(inner);
      if (isOne) yield found;
      else yield* valuesIn(inner, found, isEvery);
      continue;
    }
    if (outer.length > DEPTH || outer.some((one) => NOT_OF_LINK.test(one))) continue;
    if (inner === null) yield found;
    else yield* valuesIn(inner, found);
  }
}

const isPlainList = (inner: object) => Array.isArray(inner) && inner.every((one) => objectIn(one) === null);

/** Returns an object or a list of JSON, also from its text; null: another value. */
export function objectIn(value: unknown): object | null {
  if (typeof value === 'object') return value;
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return null;
  try {
    const parsed: unknown = parsedJson(value, null);
    return typeof parsed === 'object' ? parsed : null;
  } catch {
    return null; // A text may begin with a bracket.
  }
}

/** Returns a name for comparison: letters and digits in lower case. */
function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
