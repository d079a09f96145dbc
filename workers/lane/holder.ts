import { hostname } from 'node:os';

/** How this process signs the lanes that it holds. */
export function holderName(): string {
  return `${hostname()}/${process.pid}`;
}

/**
 * Whether a holder was a process of this machine that runs no more. A process number that is in use again counts
 * as alive, as does every process of another machine: then its lease has to run out.
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
