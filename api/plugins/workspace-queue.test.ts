import { expect, test } from 'vitest';
import { createWorkspaceQueue } from './workspace-queue.ts';

test('concurrency in one workspace is limited, first in, first out', async () => {
  const turns = createWorkspaceQueue(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      turns('one', async () => {
        started.push(index);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      }),
    ),
  );
  expect(most).toBe(2);
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('workspaces do not wait for each other, and a failure frees its slot', async () => {
  const turns = createWorkspaceQueue(1);
  const release = Promise.withResolvers<void>();
  const held = turns('one', () => release.promise);
  const next = turns('one', async () => 'next');
  expect(await turns('two', async () => 'two')).toBe('two');
  release.reject(new Error('failed'));
  await expect(held).rejects.toThrow('failed');
  expect(await next).toBe('next');
  expect(await turns('one', async () => 'again')).toBe('again');
});
