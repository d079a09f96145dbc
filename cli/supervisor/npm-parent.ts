/**
 * Calls back when npm, as the parent of `npm start`, exits without forwarding a signal (`kill -9`). Does nothing
 * without npm, because other parents may exit, as with `nohup`.
 *
 * @returns a function that stops the watch
 */
export function onNpmDeath(env: NodeJS.ProcessEnv, callback: () => void): () => void {
  if (env.npm_lifecycle_event === undefined) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, 250);
  timer.unref();
  return () => clearInterval(timer);
}
