/** Exit code or signal of a process; null if it never ran. */
export type Exit = number | NodeJS.Signals | null;

/**
 * Describes the end of a process. A SIGKILL that this supervisor did not send comes from the kernel for lack of memory
 * more often than from an operator.
 */
export function describeExit(exit: Exit): string {
  if (typeof exit !== 'string') return `exited with ${exit}`;
  return `ended by ${exit}${exit === 'SIGKILL' ? ' (out of memory?)' : ''}`;
}

/** A running embedded database, a process on this machine for this user only. */
export type EmbeddedStore = {
  /** URL with credentials. */
  url: string;
  port: number;
  pid: number;
  /** Resolves when the process has exited for any reason, with its exit code or signal. */
  exited: Promise<Exit>;
  /** Stops it cleanly. Resolves when the process has exited. */
  stop(): Promise<void>;
  /** Kills it; the next start recovers acknowledged writes. */
  kill(): void;
};

/** An embedded database with an address assigned before its start, so that clients can retry it. */
export type StartableStore = {
  url: string;
  /**
   * Starts it at that address.
   *
   * @param stopping aborts a start in progress, and ends its process
   * @throws Error with the output of the database, when it does not start
   */
  start(stopping: AbortSignal): Promise<EmbeddedStore>;
};

/** Thrown when an embedded database did not start; the message needs no stack trace. */
export class StoreNotStarted extends Error {
  override name = 'StoreNotStarted';
}
