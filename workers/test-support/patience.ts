/**
 * Patience of lanes whose offset is past the log's end, in milliseconds: tests need not wait as long as an outage may
 * last.
 */
export const PATIENCE_MS = 300;
