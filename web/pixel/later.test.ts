import { expect, test } from 'vitest';
import { flush, hold, later, leave, MOST } from './later.ts';

/** Resolves in a task after those that wait now. */
const task = () => new Promise((resolve) => setTimeout(resolve));

test('steps run one a task, in order, and one that throws costs itself alone', async () => {
  const ran: (number | string)[] = [];
  for (const n of [1, 2, 3])
    later(() => {
      ran.push(n);
      // Runs between tasks.
      queueMicrotask(() => ran.push('end'));
      if (n === 2) throw new Error('no');
    });
  expect(ran).toEqual([]);
  await task();
  expect(ran).toEqual([1, 'end', 2, 'end', 3, 'end']);
});

test('steps wait while they are held, and a flush runs them at once', async () => {
  const ran: number[] = [];
  later(() => ran.push(1));
  hold(MOST);
  later(() => ran.push(2));
  await task();
  expect(ran).toEqual([]);
  hold(-MOST);
  await task();
  expect(ran).toEqual([1, 2]);
  hold(MOST);
  later(() => {
    ran.push(3);
    later(() => ran.push(4));
  });
  flush();
  expect(ran).toEqual([1, 2, 3, 4]);
  hold(-MOST);
});

test('steps that ask for something wait for a place, and those beside them hold up none', async () => {
  let asked = 0;
  let others = 0;
  for (let n = 0; n < 3 * MOST; n++) {
    later(() => {
      asked++;
      hold(1);
    });
    later(() => others++);
  }
  await task();
  expect(asked).toBe(MOST);
  for (let ended = 1; ended <= 3 * MOST; ended++) {
    hold(-1);
    await task();
    expect(asked).toBe(Math.min(MOST + ended, 3 * MOST));
  }
  expect(others).toBe(3 * MOST);
});

test('steps run at once when the page is left, also those that come then', () => {
  const ran: number[] = [];
  later(() => ran.push(1));
  leave();
  later(() => ran.push(2));
  expect(ran).toEqual([1, 2]);
});
