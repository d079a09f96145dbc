import { expect, onTestFinished, test, vi } from 'vitest';
import { silentLogger } from './log.ts';
import { startRestartingThread } from './restarting-thread.ts';

const THREAD = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (message) => {
      if (message === 'die') throw new Error('as told');
      if (message === 'end') process.exit(0);
      if (message === 'hang') for (;;);
      parentPort.postMessage(message);
    });
    parentPort.postMessage('up');`)}`,
);

function restarting() {
  const heard: string[] = [];
  /** Return values of `post` and `end` at each death, while no thread runs. */
  const deaths: [boolean, boolean][] = [];
  const thread = startRestartingThread<string, string>({
    url: THREAD,
    workerData: null,
    name: 'the test',
    onMessage: (message) => heard.push(message),
    onDeath: () => deaths.push([thread.post('lost'), thread.end()]),
    log: silentLogger(),
  });
  return { thread, heard, deaths };
}

test('a thread that dies is replaced, and posting in between returns false', async () => {
  const { thread, heard, deaths } = restarting();
  expect(thread.post('one')).toBe(true);
  await expect.poll(() => heard).toEqual(['up', 'one']);
  thread.post('die');
  await expect.poll(() => deaths).toEqual([[false, false]]);
  await expect.poll(() => heard).toEqual(['up', 'one', 'up']);
  expect(thread.end()).toBe(true);
  await expect.poll(() => deaths).toHaveLength(2);
  await thread.stop('end', 1_000);
});

test('a stopped thread stays stopped, whether it responds or hangs', async () => {
  const [listens, hangs] = [restarting(), restarting()];
  await expect.poll(() => [...listens.heard, ...hangs.heard]).toEqual(['up', 'up']);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  hangs.thread.post('hang');
  const stopped = Promise.all([listens.thread.stop('end', 60_000), hangs.thread.stop('end', 100)]);
  await vi.advanceTimersByTimeAsync(100);
  await stopped;
  // A pending timer would be a restart.
  expect(vi.getTimerCount()).toBe(0);
  expect([listens.heard, hangs.heard]).toEqual([['up'], ['up']]);
  expect([listens.deaths, hangs.deaths, hangs.thread.post('x')]).toEqual([[], [], false]);
});
