/** Measures of the daily series, in display order. Their names are also those of their words. */
export const MEASURES = [{ name: 'clicks' }, { name: 'signups' }, { name: 'purchases' }] as const;

export type Measure = (typeof MEASURES)[number];
export type MeasureName = Measure['name'];
