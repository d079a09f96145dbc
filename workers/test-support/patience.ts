/** Milliseconds of lanes that stand past the log's end: no test has to wait as long as an outage may last. */
export const PATIENCE_MS = 300;
