import { hostname } from 'node:os';

/** Returns the name under which this process holds lanes: `<host>/<pid>`. */
export function holderName(): string {
  return `${hostname()}/${process.pid}`;
}

/**
 * Returns whether a holder was a process of this machine that has ended. A reused process id, and every process of
 * another machine, counts as alive: its lease has to expire.
 */
export function hasDied(holder: string): boolean {
  const [host, pid] = holder.split('/');
  if (host !== hostname() || !pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
