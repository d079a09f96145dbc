/**
 * SQL: rows that count for the next creation time of a workspace, which is later than all of theirs. A row created
 * while the clock was ahead does not count: otherwise all later ones would be ahead as well.
 */
export const NOT_AHEAD = "created_at < clock_timestamp() + interval '5 seconds'";
