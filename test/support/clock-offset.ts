/**
 * Preloaded into a process (`node --import`), shifts its wall clock by `CLOCK_OFFSET_MS`: the source of the event log's
 * times (`core/event-log/journal/stream-clock.ts`).
 */
const offset = Number(process.env.CLOCK_OFFSET_MS ?? 0);
const exact = Date.now;
Date.now = () => exact() + offset;

export {};
