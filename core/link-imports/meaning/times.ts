import { instantText } from '../values.ts';

/** Seconds since the epoch, from 1973 to 2286. */
const SECONDS = /^\d{9,10}$/;
const MILLISECONDS = /^\d{12,13}$/;

/**
 * Returns a time as other programs write it in the form of a create: seconds or milliseconds since the epoch, or a
 * database's time. Other text is unchanged, which the create refuses.
 */
export function timeIn(text: string): string {
  if (SECONDS.test(text)) return new Date(Number(text) * 1_000).toISOString();
  if (MILLISECONDS.test(text)) return new Date(Number(text)).toISOString();
  return instantText(text);
}
