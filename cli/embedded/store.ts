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
};
