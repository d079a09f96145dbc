import { ELSEWHERE } from '../inserts/elsewhere.ts';
import type { ComparedTable, Condition } from './compared-tables.ts';

/** A stream from whose next sequence on the log gives a replica its clicks, and earlier ones that it gives, too. */
export type GivenByLog = { ordinal: number; next: bigint; missing: readonly { from: bigint; to: bigint }[] };

const OF_IMPORTS = 999;
const ORDINAL = 'toUInt16(toUnixTimestamp64Nano(ts) % 1000)';

/**
 * Returns SQL of the rows of a table that the log does not give to a replica. Only clicks can be there twice, so of the
 * other tables these are all rows.
 */
export function notFromLog({ name }: ComparedTable, marks: readonly GivenByLog[]): Condition {
  if (name !== 'clicks') return { sql: 'true', params: {} };
  const missing = marks.flatMap(({ ordinal, missing: ranges }) =>
    ranges.map((range) => ({ ordinal, ...range })),
  );
  const isMissing = `arrayExists((o, f, t) -> o = ${ORDINAL} AND sequence >= f AND sequence <= t,
    {missing_of:Array(UInt16)}, {missing_from:Array(UInt64)}, {missing_to:Array(UInt64)})`;
  return {
    sql: `sequence >= ${ELSEWHERE} OR ${ORDINAL} = ${OF_IMPORTS}
      OR (sequence < transform(${ORDINAL}, {log_of:Array(UInt16)}, {log_next:Array(UInt64)}, toUInt64(0))
        ${missing.length > 0 ? `AND NOT ${isMissing}` : ''})`,
    params: {
      // ClickHouse takes no empty lists: no stream has the ordinal of imports.
      log_of: [OF_IMPORTS, ...marks.map(({ ordinal }) => ordinal)],
      log_next: ['0', ...marks.map(({ next }) => String(next))].map(BigInt),
      ...(missing.length > 0 && {
        missing_of: missing.map(({ ordinal }) => ordinal),
        missing_from: missing.map(({ from }) => from),
        missing_to: missing.map(({ to }) => to),
      }),
    },
  };
}
