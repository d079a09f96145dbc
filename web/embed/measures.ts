/** Measures of the daily series, in display order. */
export const MEASURES = [
  { name: 'clicks', label: 'Clicks' },
  { name: 'signups', label: 'Signups' },
  { name: 'purchases', label: 'Purchases' },
] as const;

export type Measure = (typeof MEASURES)[number];
export type MeasureName = Measure['name'];
