// Browsers run this file too.

/** What the list of referrers is sorted by. */
export const ENROLLMENT_SORTS = [
  'created',
  'name',
  'clicks',
  'signups',
  'purchases',
  'revenue',
  'owed',
  'epc',
  'average_lifetime_value',
] as const;
export type EnrollmentSort = (typeof ENROLLMENT_SORTS)[number];
