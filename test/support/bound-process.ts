import { execFileSync } from 'node:child_process';

let available: boolean | null = null;

/**
 * The command line of a program that does not outlive this process, however this one ends: a test run that is killed
 * leaves no broker behind. It is the system that sees to it, on Linux with `setpriv` of util-linux; elsewhere the
 * command line is what was given.
 *
 * @param signal what the program gets when this process ends
 */
export function bound(
  file: string,
  args: string[],
  signal: 'KILL' | 'TERM' = 'KILL',
): { file: string; args: string[] } {
  available ??= canBind();
  return available ? { file: 'setpriv', args: ['--pdeathsig', signal, file, ...args] } : { file, args };
}

function canBind(): boolean {
  try {
    execFileSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
