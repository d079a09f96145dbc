/**
 * Returns SQL that prints a `timestamptz` as ISO 8601 in UTC with all six fraction digits. Cursors need them all;
 * `Date` would cut them to three.
 */
export function isoMicros(expression: string): string {
  return `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
