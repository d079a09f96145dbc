import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs a block of a guide in a shell, as a reader does who pastes it. A response that is an error fails it.
 *
 * @param options.env variables that the guide uses
 * @param options.placeholders what the reader has instead of each text
 * @returns its output
 */
export async function pasted(
  block: string | undefined,
  { env, placeholders = {} }: { env: Record<string, string>; placeholders?: Record<string, string> },
): Promise<string> {
  if (block === undefined) throw new Error('the guide has no such block');
  let script = block.replaceAll('curl ', 'curl -sS --fail-with-body ');
  for (const [placeholder, value] of Object.entries(placeholders))
    script = script.replaceAll(placeholder, value);
  const { stdout } = await run('bash', ['-euc', script], { env: { PATH: process.env.PATH ?? '', ...env } });
  return stdout;
}
