import { world } from '../world/world.ts';

/** `node:perf_hooks` in virtual time: the monotonic clock since the start of the running process. */
export const performance = {
  now: () => world().monotonic() - world().current.startedAt,
};
