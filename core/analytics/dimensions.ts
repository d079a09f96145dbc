// Browsers run this file too.
import { TEXT_FIELDS } from '../clicks/field-names.ts';

/** The metrics of `POST /analytics/query`. */
export const METRICS = [
  'clicks',
  'visitors',
  'leads',
  'conversions',
  'revenue',
  'conversion_rate',
  'revenue_per_click',
] as const;
export type Metric = (typeof METRICS)[number];

/** Buckets of time, finest first. */
export const TIME_UNITS = ['minute', 'hour', 'day', 'week', 'month'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/** Dimensions that are a column of a click, with the column. Unknown is an empty text. */
export const TEXT_COLUMNS = TEXT_FIELDS;
export type TextDimension = keyof typeof TEXT_COLUMNS;

const { channel: _, ...OTHER_COLUMNS } = TEXT_COLUMNS;

/** The columns of a click that an attributed share has too, besides link and channel; also `asn`. */
export const CREDITED_TEXTS = Object.values(OTHER_COLUMNS);

/** The dimensions of an attributed share, taken from the clicks that have it. */
export type CreditedClick = Record<(typeof CREDITED_TEXTS)[number], string> & { asn: number };

/** Dimensions of the link as PostgreSQL has it at present. */
const LINK_DIMENSIONS = ['campaign', 'tag', 'folder'] as const;
export type LinkDimension = (typeof LINK_DIMENSIONS)[number];

/** Dimensions of a local clock. `weekday`: 1 (Monday) to 7. */
const CLOCK_DIMENSIONS = ['weekday', 'hour_of_day'] as const;
export type ClockDimension = (typeof CLOCK_DIMENSIONS)[number];

export type TimeDimension = `time:${TimeUnit}`;

export type Dimension = TimeDimension | 'link' | 'asn' | TextDimension | LinkDimension | ClockDimension;

const namesOf = <const T extends object>(table: T) => Object.keys(table) as (keyof T)[];

/** Every dimension, in the order of the documentation. */
export const DIMENSIONS: readonly Dimension[] = [
  ...TIME_UNITS.map((unit): TimeDimension => `time:${unit}`),
  'link',
  ...LINK_DIMENSIONS,
  ...namesOf(TEXT_COLUMNS),
  'asn',
  ...CLOCK_DIMENSIONS,
];

export const OPERATORS = ['is', 'is_not', 'contains', 'contains_not', 'is_empty'] as const;
export type Operator = (typeof OPERATORS)[number];

/** Returns the unit of a dimension of time; null for another dimension. */
export function timeUnitOf(dimension: Dimension): TimeUnit | null {
  return TIME_UNITS.find((unit) => dimension === `time:${unit}`) ?? null;
}

export const isClockDimension = (dimension: Dimension): dimension is ClockDimension =>
  CLOCK_DIMENSIONS.some((name) => name === dimension);

export const isLinkDimension = (dimension: Dimension): dimension is LinkDimension =>
  LINK_DIMENSIONS.some((name) => name === dimension);

export const isTextDimension = (dimension: Dimension): dimension is TextDimension =>
  dimension in TEXT_COLUMNS;
