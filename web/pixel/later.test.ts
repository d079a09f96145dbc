import { expect, test } from 'vitest';
import { flush, hold, later, leave } from './later.ts';

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
  hold(1);
  later(() => ran.push(2));
  await task();
  expect(ran).toEqual([]);
  hold(-1);
  await task();
  expect(ran).toEqual([1, 2]);
  hold(1);
  later(() => {
    ran.push(3);
    later(() => ran.push(4));
  });
  flush();
  expect(ran).toEqual([1, 2, 3, 4]);
  hold(-1);
});

test('steps run at once when the page is left, also those that come then', () => {
  const ran: number[] = [];
  later(() => ran.push(1));
  leave();
  later(() => ran.push(2));
  expect(ran).toEqual([1, 2]);
});
