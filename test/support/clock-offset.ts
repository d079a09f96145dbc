/**
 * Loaded into a process before all else (`node --import`), sets its wall clock off by `CLOCK_OFFSET_MS`: what its event
 * log takes its times from (`core/event-log/journal/stream-clock.ts`).
 */
const offset = Number(process.env.CLOCK_OFFSET_MS ?? 0);
const exact = Date.now;
Date.now = () => exact() + offset;

export {};
