/**
 * Under `npm start`, calls back when npm has died without passing a signal on (`kill -9`): the service it
 * started is not to stay behind. Without npm a parent may come and go, as with `nohup`.
 *
 * @returns what ends the watch
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
