/**
 * Tracks quiet times of a process. While its lanes read nothing but heartbeats, which only advance the watermark, they
 * store their progress every ten seconds. The first event ends the quiet for all lanes, since the watermark is the
 * least of all streams.
 */
export type IdleLanes = {
  /** Notes an event that is not a heartbeat. */
  end(): void;
  isQuiet(): boolean;
  /** Returns the time until the progress of quiet lanes is stored, together. Milliseconds. */
  untilStoreMs(): number;
};

/** Time without an event after which it is quiet. */
const QUIET_AFTER_MS = 3_000;
/** Interval in which quiet lanes store their progress. */
const STORE_EVERY_MS = 10_000;
const AFTER_HEARTBEATS_MS = 500;

export function createIdleLanes(now: () => number = () => performance.now(), wall = Date.now): IdleLanes {
  let lastEvent = now();
  return {
    end() {
      lastEvent = now();
    },
    isQuiet: () => now() - lastEvent >= QUIET_AFTER_MS,
    // Soon after the heartbeats of resting writers: the file system then writes for all of them at once.
    untilStoreMs: () => STORE_EVERY_MS - ((wall() - AFTER_HEARTBEATS_MS) % STORE_EVERY_MS),
  };
}
