import { Registry } from 'prom-client';
import { afterEach, expect, it, vi } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { type Job, startJob } from './job.ts';

const HOUR_MS = 3_600_000;
let job: Job | null = null;
afterEach(() => job?.stop());

function start(work: (isWoken: boolean) => Promise<boolean>): Job {
  job = startJob({
    name: 'test',
    everyMs: HOUR_MS,
    log: silentLogger(),
    metrics: createWorkerMetrics(new Registry()),
    work,
  });
  return job;
}

it('runs at the start, at once when it is woken, and again while there is more', async () => {
  const work = vi.fn(async () => false).mockResolvedValueOnce(true);
  const { wake } = start(work);
  await expect.poll(() => work.mock.calls).toEqual([[false], [false]]);
  wake();
  await expect.poll(() => work.mock.calls).toEqual([[false], [false], [true]]);
});

it('runs again when it is woken during a run, also when it is stopped meanwhile', async () => {
  const gate = Promise.withResolvers<boolean>();
  const work = vi.fn(async () => false).mockReturnValueOnce(gate.promise);
  const started = start(work);
  started.wake();
  started.wake();
  const stopped = started.stop();
  gate.resolve(false);
  await stopped;
  expect(work.mock.calls).toEqual([[false], [true]]);
});

it('runs again after a run that failed', async () => {
  const work = vi.fn(async () => false).mockRejectedValueOnce(new Error('away'));
  const { wake } = start(work);
  await expect.poll(() => work).toHaveBeenCalledTimes(1);
  wake();
  await expect.poll(() => work).toHaveBeenCalledTimes(2);
});
