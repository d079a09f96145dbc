/**
 * SQL that prints a `timestamptz` as ISO 8601 in UTC with all its six fraction digits, which `Date` would cut to
 * three: a cursor needs them all.
 */
export function isoMicros(expression: string): string {
  return `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
