/** What the daily series counts, in the order in which it is shown. */
export const MEASURES = [
  { name: 'clicks', label: 'Clicks' },
  { name: 'signups', label: 'Signups' },
  { name: 'purchases', label: 'Purchases' },
] as const;

export type Measure = (typeof MEASURES)[number];
export type MeasureName = Measure['name'];
