import { instantText } from '../values.ts';

/** Seconds since the epoch, from 1973 to 2286. */
const SECONDS = /^\d{9,10}$/;
const MILLISECONDS = /^\d{12,13}$/;

/**
 * Converts a time as other programs write it to the form that a create takes. It reads seconds or milliseconds since
 * the epoch, and the format of databases. It returns other text as it is, and the create refuses it.
 */
export function timeIn(text: string): string {
  if (SECONDS.test(text)) return new Date(Number(text) * 1_000).toISOString();
  if (MILLISECONDS.test(text)) return new Date(Number(text)).toISOString();
  return instantText(text);
}
