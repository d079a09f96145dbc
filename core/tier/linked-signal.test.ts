import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { linkSignals } from './linked-signal.ts';

const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

describe('a linked signal', () => {
  test('aborts with the first of its sources, with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const { signal } = linkSignals(one.signal, other.signal);
    expect(signal.aborted).toBe(false);
    other.abort('first');
    one.abort('second');
    expect(signal.reason).toBe('first');
  });

  test('is aborted from the start when a source is', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    other.abort('before');
    expect(linkSignals(one.signal, other.signal).signal.reason).toBe('before');
    expect(listeners(one)).toBe(0);
  });

  test('no longer follows its sources once it is released', () => {
    const source = new AbortController();
    const { signal, release } = linkSignals(source.signal);
    release();
    source.abort();
    expect(signal.aborted).toBe(false);
  });

  test('leaves no listener at a source after it was released or has aborted', () => {
    const [lasting, other] = [new AbortController(), new AbortController()];
    linkSignals(lasting.signal, other.signal).release();
    expect([listeners(lasting), listeners(other)]).toEqual([0, 0]);
    linkSignals(lasting.signal, other.signal);
    expect([listeners(lasting), listeners(other)]).toEqual([1, 1]);
    other.abort();
    expect([listeners(lasting), listeners(other)]).toEqual([0, 0]);
  });
});
