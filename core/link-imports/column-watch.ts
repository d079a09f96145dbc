import { everyValue } from './nested-values.ts';
import type { SourceRow } from './source-row.ts';

/** Finds the columns of a file that no reader asked for. */
export type ColumnWatch = {
  /** Notes a row that was read. */
  see(row: SourceRow): void;
  /** Returns the file's names of what was not taken over from any row. */
  unknown(): string[];
};

export function createColumnWatch(): ColumnWatch {
  const names = new Map<string, string>();
  const read = new Set<string>();
  const left = new Set<string>();
  return {
    see({ columns, from }) {
      for (const key of columns.read) read.add(key);
      for (const [key, paths] of columns.inside) {
        const column = columns.peek(key);
        if (column === undefined || columns.read.has(key)) continue;
        read.add(key);
        for (const { column: path, value } of everyValue({ [column.name]: column.value })) {
          const isRead = paths.has(path) || paths.has(`${path}.0`);
          if (!isRead && hasValue(value)) names.set(path, path);
        }
      }
      for (const key of columns.left) left.add(key);
      for (const [key, { name, value }] of columns) {
        if (!names.has(key) && (from === 'csv' || hasValue(value))) names.set(key, name);
      }
    },
    unknown: () => [...names].flatMap(([key, name]) => (read.has(key) && !left.has(key) ? [] : [name])),
  };
}

/** Whether a value says something: exports of an API have every field in every link. */
function hasValue(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
