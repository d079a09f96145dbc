import { execFileSync, spawn } from 'node:child_process';

let available: boolean | null = null;

/**
 * Returns the command line of a program that ends with this process in any case: a killed test run leaves no broker
 * behind. On Linux the kernel ensures it, through `setpriv` of util-linux; elsewhere the command line is unchanged.
 *
 * @param signal sent to the program when this process ends
 */
export function bound(
  file: string,
  args: string[],
  signal: 'KILL' | 'TERM' = 'KILL',
): { file: string; args: string[] } {
  available ??= canBind();
  return available ? { file: 'setpriv', args: ['--pdeathsig', signal, file, ...args] } : { file, args };
}

/**
 * Kills a running program when this process ends without having released it. For PostgreSQL, which otherwise survives
 * its parent process.
 *
 * @returns a function that releases it
 */
export function bindRunning(pid: number): () => void {
  const guard = spawn('sh', ['-c', 'read -r released || kill -9 "$0"', String(pid)], {
    // A process group of its own: Ctrl-C in a terminal must not end it first.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin.on('error', () => {});
  return () => guard.stdin.end('released\n');
}

/**
 * Terminates a running program when this process ends without having released it, and then removes the program's
 * directory.
 *
 * @returns a function that releases it
 */
export function endBehind(pid: number, directory: string): () => void {
  const end = 'kill "$0"; while kill -0 "$0"; do sleep 0.1; done; rm -rf "$1"';
  const guard = spawn('sh', ['-c', `read -r released || { ${end}; }`, String(pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  guard.stdin.on('error', () => {});
  return () => guard.stdin.end('released\n');
}

function canBind(): boolean {
  try {
    execFileSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
