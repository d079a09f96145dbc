import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODULE = new URL('./collect-at-rest.ts', import.meta.url).href;
const LOOK_MS = 100;

/** Runs a process. In `script`, `isGone()` tells whether an object without references is gone. */
async function outputOf(script: string): Promise<string> {
  const source = `
    import { collectAtRest } from '${MODULE}';
    const left = new WeakRef({});
    const isGone = () => left.deref() === undefined;
    ${script}
    console.log(isGone() ? 'collected' : 'left');`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

const AT_REST = `await new Promise((resolve) => setTimeout(resolve, ${5 * LOOK_MS}));`;

test('a process at rest collects its garbage, and V8 alone leaves it', async () => {
  expect(await outputOf(`collectAtRest(${LOOK_MS}); ${AT_REST}`)).toBe('collected\n');
  expect(await outputOf(AT_REST)).toBe('left\n');
});

/** Works for all of ten looks, and pauses for them. */
const AT_WORK = `
  collectAtRest(${LOOK_MS});
  for (let look = 0; look < 10; look += 1) {
    for (const until = performance.now() + ${LOOK_MS}; performance.now() < until; );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }`;

test('a process that works leaves its garbage to V8', async () => {
  expect(await outputOf(AT_WORK)).toBe('left\n');
});

test('threads of a process collect theirs at the same time', async () => {
  const thread = `
    const { Worker } = await import('node:worker_threads');
    const look = 'import("${MODULE}").then(({ collectAtRest }) => { collectAtRest(${LOOK_MS}); setInterval(() => {}, 1e3); })';
    const workers = [1, 2, 3].map(() => new Worker(look, { eval: true }));
    for (const worker of workers) worker.on('error', (error) => console.log(error));
    ${AT_REST}
    await Promise.all(workers.map((worker) => worker.terminate()));`;
  expect(await outputOf(`collectAtRest(${LOOK_MS}); ${thread}`)).toBe('collected\n');
});
