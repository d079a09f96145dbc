import type { TimeUnit } from '../../../core/analytics/dimensions.ts';

/**
 * Seconds since the epoch at which a bucket begins. Labels of days, weeks and months have no offset: they are taken as
 * UTC, and written in UTC by {@link chartZone}.
 */
export function bucketStart(label: string): number {
  const text = label.length === 7 ? `${label}-01` : label;
  return Date.parse(text) / 1_000;
}

/** The time zone in which a chart of these buckets writes its times: labels of days are midnights in UTC. */
export const chartZone = (unit: TimeUnit, zone: string): string =>
  unit === 'minute' || unit === 'hour' ? zone : 'UTC';

const FORMATS: Record<TimeUnit, Intl.DateTimeFormatOptions> = {
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  hour: { dateStyle: 'medium', timeStyle: 'short' },
  day: { dateStyle: 'medium' },
  week: { dateStyle: 'medium' },
  month: { month: 'long', year: 'numeric' },
};

/** A bucket's label for people: `25 Nov 2026, 14:00`, `November 2026`. */
export function bucketName(label: string, unit: TimeUnit, zone = 'UTC'): string {
  const at = new Date(bucketStart(label) * 1_000);
  if (Number.isNaN(at.getTime())) return label;
  const written = new Intl.DateTimeFormat(undefined, {
    ...FORMATS[unit],
    timeZone: chartZone(unit, zone),
  }).format(at);
  return unit === 'week' ? `Week of ${written}` : written;
}
