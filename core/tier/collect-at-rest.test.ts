import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODULE = new URL('./collect-at-rest.ts', import.meta.url).href;
const LOOK_MS = 100;

/** Runs a process that looks each 100 ms. In `script`, `isGone()` tells whether an object without references is gone. */
async function outputOf(script: string, flags = ['--expose-gc']): Promise<string> {
  const source = `
    import { collectAtRest } from '${MODULE}';
    const left = new WeakRef({});
    const isGone = () => left.deref() === undefined;
    collectAtRest(${LOOK_MS});
    ${script}`;
  const quiet = ['--disable-warning=ExperimentalWarning', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...quiet, '-e', source]);
  return stdout;
}

test('a process at rest collects its garbage', async () => {
  // Ends when it is collected, else at the limit of the test.
  const script = `
    const timer = setInterval(() => {
      if (!isGone()) return;
      console.log('collected');
      clearInterval(timer);
    }, ${LOOK_MS / 2});`;
  expect(await outputOf(script)).toBe('collected\n');
});

/** Works for all of ten looks, and pauses for them. */
const AT_WORK = `
  for (let look = 0; look < 10; look += 1) {
    for (const until = performance.now() + ${LOOK_MS}; performance.now() < until; );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  console.log(isGone() ? 'collected' : 'left');`;
const AWAKE = `await new Promise((resolve) => setTimeout(resolve, ${5 * LOOK_MS})); console.log(isGone() ? 'collected' : 'left');`;

test('a process that works leaves its garbage to V8', async () => {
  expect(await outputOf(AT_WORK)).toBe('left\n');
});

test('without --expose-gc nothing happens', async () => {
  expect(await outputOf(AWAKE, [])).toBe('left\n');
});
