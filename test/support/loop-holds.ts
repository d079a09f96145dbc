/**
 * Watches how long the event loop of this thread is held. Each iteration counts with the lesser of its clock time and
 * this thread's CPU time. So other processes and threads of a busy machine do not count, but garbage collection does.
 *
 * @returns a function that ends the watch, and returns the longest iteration in milliseconds
 */
export function watchLoop(): () => number {
  let last = times();
  let longest = 0;
  let watching = true;
  const look = () => {
    const now = times();
    longest = Math.max(longest, Math.min(now.clock - last.clock, now.cpu - last.cpu));
    last = now;
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    watching = false;
    look();
    return longest;
  };
}

/** Milliseconds by the clock, and of this thread's CPU time. */
function times(): { clock: number; cpu: number } {
  const { user, system } = process.threadCpuUsage();
  return { clock: performance.now(), cpu: (user + system) / 1_000 };
}
