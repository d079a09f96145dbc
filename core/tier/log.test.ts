import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

test('a process whose log is on a full disk continues', async ({ skip }) => {
  skip(!existsSync('/dev/full'), 'this system has no /dev/full');
  const source = `const { createLogger } = await import(${JSON.stringify(new URL('./log.ts', import.meta.url).href)});
    const log = createLogger('test');
    for (let line = 0; line < 3; line += 1) {
      log.info('lost');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    console.log('alive');`;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source],
    { stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')], timeout: 120_000, killSignal: 'SIGKILL' },
  );
  const output = child.stdout === null ? '' : text(child.stdout);
  const [status] = (await once(child, 'exit')) as [number | null];
  expect([await output, status]).toEqual(['alive\n', 0]);
});
