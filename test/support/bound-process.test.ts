import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { bound } from './bound-process.ts';

const MODULE = new URL('./bound-process.ts', import.meta.url).href;
/** Starts a program bound to itself, in either way, prints its process id, and stays. */
const parentOf = (start: string) => `
  const { spawn } = await import('node:child_process');
  const { bound, bindRunning, endBehind } = await import('${MODULE}');
  const options = { stdio: 'ignore', detached: true };
  ${start}
`;
const WAYS = {
  'when it starts': parentOf(`
    const { file, args } = bound('sleep', ['600']);
    console.log(spawn(file, args, options).pid);`),
  'while it runs': parentOf(`
    const { pid } = spawn('sleep', ['600'], options);
    bindRunning(pid);
    console.log(pid);`),
};

beforeEach((context) => {
  context.skip(bound('sleep', []).file === 'sleep', 'no setpriv that can bind a process');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function startedBy(source: string) {
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = Number(String((await once(parent.stdout, 'data'))[0]));
  expect(isAlive(pid)).toBe(true);
  return { parent, pid };
}

test.each(Object.entries(WAYS))(
  'a program bound %s to a process ends when that process is killed',
  async (_, source) => {
    const { parent, pid } = await startedBy(source);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);

test('a program to be ended after a process ends when that process is killed, and leaves no directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-behind-'));
  const { parent, pid } = await startedBy(
    parentOf(`
      const { pid } = spawn('sleep', ['600'], options);
      endBehind(pid, '${directory}');
      console.log(pid);
      setInterval(() => {}, 1_000);`),
  );
  parent.kill('SIGKILL');
  await expect.poll(() => isAlive(pid) || existsSync(directory)).toBe(false);
});
