import type { ClickRow } from './clicks.ts';
import { nativeBlock, timeColumn, uint64Column } from './native-columns.ts';

/** Returns the rows as one block of table `removed_clicks`: clicks that are left out because they were erased. */
export function removedBlock(rows: readonly ClickRow[]): Uint8Array[] {
  const ts = timeColumn('ts', rows.length);
  const sequence = uint64Column('sequence', rows.length);
  rows.forEach(({ event, ordinal, sequence: number }, row) => {
    ts.put(row, event.ts, ordinal);
    sequence.put(row, number);
  });
  return nativeBlock([ts, sequence], rows.length);
}
