import { setTimeout as delay } from 'node:timers/promises';

/** Longer than a test that counts by days or months takes. Milliseconds. */
const ROOM_MS = 60_000;
const DAY_MS = 86_400_000;

/** Returns at once, or on the next day if the UTC day ends too soon for a test that counts by days or months. */
export async function roomInUtcDay(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < ROOM_MS) await delay(left);
}
