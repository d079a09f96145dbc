import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Heartbeats, requestHeartbeats } from './heartbeats.ts';

let directory: string;
let beats: number;
let heartbeats: Heartbeats;
beforeEach(() => {
  // The timers that file notifications use stay real.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  directory = mkdtempSync(join(tmpdir(), 'hoplog-beats-'));
  beats = 0;
  heartbeats = new Heartbeats(directory, () => {
    beats += 1;
  });
});
afterEach(() => {
  heartbeats.close();
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns the number of heartbeats in the next seconds. */
function beatsIn(seconds: number): number {
  const before = beats;
  vi.advanceTimersByTime(seconds * 1_000);
  return beats - before;
}

/** Requests heartbeats, and waits until the writer knows it and rests again. */
async function rest(): Promise<void> {
  await expect
    .poll(() => {
      requestHeartbeats(directory);
      return new Promise(setImmediate).then(() => {
        vi.advanceTimersByTime(4_000);
        return heartbeats.isResting;
      });
    })
    .toBe(true);
}

describe('the heartbeats of a stream', () => {
  it('come four times a second as long as no reader has requested any', () => {
    expect(beatsIn(60)).toBe(240);
    expect(heartbeats.isResting).toBe(false);
  });

  it('come each ten seconds after three without an event or a request', async () => {
    await rest();
    expect(beatsIn(60)).toBe(6);
    heartbeats.rouse();
    expect(heartbeats.isResting).toBe(false);
    expect(beatsIn(2)).toBe(8);
    heartbeats.noteEvent();
    expect(beatsIn(3)).toBe(12);
    expect(beatsIn(60)).toBeLessThan(8);
  });

  it('come at once when a reader requests them in a rest', async () => {
    await rest();
    const before = beats;
    requestHeartbeats(directory);
    await expect.poll(() => beats).toBeGreaterThan(before);
    expect(heartbeats.isResting).toBe(false);
    expect(beatsIn(2)).toBe(8);
  });

  it('of a stream that is gone are requested without effect', () => {
    expect(() => requestHeartbeats(join(directory, 'gone'))).not.toThrow();
  });
});
