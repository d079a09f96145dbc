import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { hasDied, holderName } from './holder.ts';

it('knows that a process of this machine has died, and nothing about other machines', async () => {
  const child = spawn(process.execPath, ['--eval', '']);
  await once(child, 'exit');
  expect(hasDied(`${hostname()}/${child.pid}`)).toBe(true);
  expect(hasDied(holderName())).toBe(false);
  expect(hasDied(`not-${hostname()}/${child.pid}`)).toBe(false);
  expect(hasDied('nonsense')).toBe(false);
});
