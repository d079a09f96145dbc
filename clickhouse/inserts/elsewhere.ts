/**
 * SQL: the least `sequence` of events that another deployment's log had (`clickhouse/archive`). Their ordinals are of
 * that deployment's streams, so a worker must not take them for events of a stream here. No log counts that far.
 */
export const ELSEWHERE = 'toUInt64(9223372036854775808)';
