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
    ${script}`;
  const quiet = ['--disable-warning=ExperimentalWarning', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...quiet, '-e', source]);
  return stdout;
}

test('a process at rest collects its garbage', async () => {
  // V8's own collection, which may come first, is not counted.
  const script = `
    const { gc } = globalThis;
    const alive = setInterval(() => {}, 1_000);
    await new Promise((resolve) => {
      globalThis.gc = (options) => resolve(gc(options));
      collectAtRest(${LOOK_MS});
    });
    await new Promise((resolve) => setTimeout(resolve));
    clearInterval(alive);
    console.log(isGone() ? 'collected' : 'left');`;
  expect(await outputOf(script)).toBe('collected\n');
});

/** Works for all of ten looks, and pauses for them. */
const AT_WORK = `
  collectAtRest(${LOOK_MS});
  for (let look = 0; look < 10; look += 1) {
    for (const until = performance.now() + ${LOOK_MS}; performance.now() < until; );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  console.log(isGone() ? 'collected' : 'left');`;
const AWAKE = `
  collectAtRest(${LOOK_MS});
  await new Promise((resolve) => setTimeout(resolve, ${5 * LOOK_MS}));
  console.log(isGone() ? 'collected' : 'left');`;

test('a process that works leaves its garbage to V8', async () => {
  expect(await outputOf(AT_WORK)).toBe('left\n');
});

test('without --expose-gc nothing happens', async () => {
  expect(await outputOf(AWAKE, [])).toBe('left\n');
});
