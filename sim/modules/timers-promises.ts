import { world } from '../world/world.ts';

/** `node:timers/promises` in virtual time. */

export function setTimeout<T>(
  ms = 1,
  value?: T,
  { signal }: { signal?: AbortSignal } = {},
): Promise<T | undefined> {
  const present = world();
  return new Promise((resolve, reject) => {
    const aborted = () => {
      task.isCancelled = true;
      reject(signal?.reason);
    };
    const task = present.schedule(Math.max(1, ms), () => {
      signal?.removeEventListener('abort', aborted);
      resolve(value);
    });
    if (signal?.aborted) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });
}

export function setImmediate<T>(value?: T): Promise<T | undefined> {
  return new Promise((resolve) => world().schedule(0, () => resolve(value)));
}
