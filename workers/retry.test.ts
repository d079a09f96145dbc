import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { silentLogger } from '../core/tier/log.ts';
import { createWorkerMetrics } from './metrics.ts';
import { createRetry } from './retry.ts';

function retrying(isFinal: (error: unknown) => boolean = () => false) {
  const registry = new Registry();
  const end = new AbortController();
  const metrics = createWorkerMetrics(registry);
  const retry = createRetry({ log: silentLogger(), metrics, signal: end.signal, isFinal });
  return { retry, end, metrics };
}

function failing(times: number, error: Error) {
  let attempts = 0;
  return async () => {
    attempts += 1;
    if (attempts <= times) throw error;
    return attempts;
  };
}

it('makes a step again until it succeeds, and counts each failure by its cause', async () => {
  const { retry, metrics } = retrying();
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  expect(await retry('insert', failing(3, refused))).toBe(4);
  const { values } = await metrics.retries.get();
  expect(values).toMatchObject([{ value: 3, labels: { step: 'insert', cause: 'ECONNREFUSED' } }]);
});

it('gives a final error up at once', async () => {
  const final = new Error('final');
  const { retry } = retrying((error) => error === final);
  await expect(retry('insert', failing(1, final))).rejects.toBe(final);
});

it('ends when its signal does, with the reason of the signal', async () => {
  const { retry, end } = retrying();
  const reason = new Error('the lane is lost');
  const outcome = retry('insert', async () => {
    end.abort(reason);
    throw new Error('away');
  });
  await expect(outcome).rejects.toBe(reason);
});
