/** A store that runs as a process beside this one, on this machine, for this user only. */
export type EmbeddedStore = {
  /** Address with the credentials in it. */
  url: string;
  port: number;
  pid: number;
  /** Resolves when the process has ended, asked or not. */
  exited: Promise<void>;
  /** Ends it cleanly: what was acknowledged is on disk. Resolves when it has gone. */
  stop(): Promise<void>;
  /** Ends it at once; its next start recovers what was acknowledged. */
  kill(): void;
};

/** A store whose address is settled before it runs, so that others may be given it and try. */
export type StoreToKeep = {
  url: string;
  /**
   * Starts it under that address.
   *
   * @param stopping ends a start that is under way, and its process
   * @throws Error with what the store said, when it does not come up
   */
  start(stopping: AbortSignal): Promise<EmbeddedStore>;
};

/** An embedded store that does not start. The message says what is wrong and what is right, so it needs no trace. */
export class StoreNotStarted extends Error {
  override name = 'StoreNotStarted';
}
