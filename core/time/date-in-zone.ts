import { firstInstantOf } from './first-instant.ts';
import { formatInstantShort, NANOS_PER_MILLI, parseInstant } from './timestamps.ts';
import { zoneClock } from './zone-clock.ts';

const DATE = /^([1-9]\d{3})-(\d{2})-(\d{2})$/;

/**
 * Returns the start of a date in a time zone, as an ISO 8601 instant. Other texts are returned unchanged: they name an
 * instant, or the reader refuses them.
 */
export function dateInZone(text: string, timeZone: string): string {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined || parseInstant(text) === null) return text;
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  return formatInstantShort(BigInt(firstInstantOf(zoneClock(timeZone), date)) * NANOS_PER_MILLI);
}
