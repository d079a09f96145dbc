/**
 * Returns a click's id as SQL: the same as `clickId` of core/ids.ts, for responses that ClickHouse writes itself.
 * ClickHouse prints the lower half of a UUID's bits first.
 *
 * @param ts SQL of a `DateTime64(9)` not before 1970
 */
export function clickIdSql(ts: string): string {
  const nanos = `toUInt64(toUnixTimestamp64Nano(${ts}))`;
  const rest = `toUInt64(${nanos} % 1000000)`;
  const high = `bitOr(bitShiftLeft(intDiv(${nanos}, 1000000), 16), bitOr(0x7000, bitShiftRight(${rest}, 8)))`;
  const mixed = `bitAnd(bitXor(${nanos}, bitShiftRight(${nanos}, 31)) * 0x9e3779b97f4a7c15, 0x3fffffffffffff)`;
  const low = `bitOr(0x8000000000000000, bitOr(bitShiftLeft(bitAnd(${rest}, 255), 54), ${mixed}))`;
  return `reinterpret(bitOr(bitShiftLeft(toUInt128(${low}), 64), toUInt128(${high})), 'UUID')`;
}
