import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODULE = new URL('./collect-at-rest.ts', import.meta.url).href;
const LOOK_MS = 100;

/**
 * Source for a thread: `isGone()` tells whether an object without references is gone, `untilGone()` waits up to a
 * minute for it.
 */
const LEFT = `
  const left = new WeakRef({});
  const isGone = () => left.deref() === undefined;
  const look = () => new Promise((resolve) => setTimeout(resolve, ${LOOK_MS}));
  const untilGone = async () => { for (let looks = 0; !isGone() && looks < 600; looks++) await look(); };`;

/** Runs a process, and returns whether its object is gone at the end. */
async function outputOf(script: string): Promise<string> {
  const source = `
    import { collectAtRest } from '${MODULE}';
    ${LEFT}
    ${script}
    console.log(isGone() ? 'collected' : 'left');`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

test('a process at rest collects its garbage, and V8 alone leaves it', async () => {
  expect(await outputOf(`collectAtRest(${LOOK_MS}); await untilGone();`)).toBe('collected\n');
  expect(await outputOf('for (let looks = 0; looks < 5; looks++) await look();')).toBe('left\n');
});

/** Works for the whole time of ten checks, with short pauses for them. */
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
    ${LEFT}
    const { parentPort } = await import('node:worker_threads');
    const { collectAtRest } = await import('${MODULE}');
    collectAtRest(${LOOK_MS});
    await untilGone();
    parentPort.postMessage(isGone());`;
  const script = `
    const { Worker } = await import('node:worker_threads');
    const source = new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(thread)}));
    const workers = [1, 2, 3].map(() => new Worker(source));
    const collected = workers.map((worker) =>
      new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject)),
    );
    collectAtRest(${LOOK_MS});
    await untilGone();
    const all = await Promise.all(collected);
    if (all.includes(false)) throw new Error('a thread did not collect');`;
  expect(await outputOf(script)).toBe('collected\n');
});
