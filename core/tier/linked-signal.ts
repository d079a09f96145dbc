/** A signal that follows others until it is released. */
export type LinkedSignal = {
  signal: AbortSignal;
  /** Removes its listeners from the sources. The signal then no longer follows them. */
  release(): void;
};

/**
 * Returns a signal that aborts with the first of its sources, with that source's reason.
 *
 * Call `release` when the work that uses the signal has ended. `AbortSignal.any` has no such call: in Node 22 each of
 * its signals leaves a record at every source for as long as that source lives (nodejs/node#54614).
 */
export function linkSignals(...given: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const sources = given.filter((source) => source !== undefined);
  const controller = new AbortController();
  const follow = (event: Event) => abortAs(event.target as AbortSignal);

  function abortAs({ reason }: AbortSignal): void {
    release();
    controller.abort(reason);
  }

  function release(): void {
    for (const source of sources) source.removeEventListener('abort', follow);
  }

  const aborted = sources.find((source) => source.aborted);
  if (aborted) controller.abort(aborted.reason);
  else for (const source of sources) source.addEventListener('abort', follow);
  return { signal: controller.signal, release };
}
