import type { Click } from '../../api/click.ts';
import type { LinkFigures } from './link-types.ts';

/** `GET /stats` */
export type Stats = {
  totals: LinkFigures;
  previous: { totals: LinkFigures };
  currency: string;
  bucket: 'hour' | 'day' | 'month';
  series: ({ start: string } & LinkFigures)[];
};

/** `GET /stats/breakdown` */
export type Breakdown = {
  rows: { value: string; clicks: number; visitors: number; conversions?: number; revenue?: number }[];
};

/** `GET /clicks` */
export type Clicks = {
  clicks: Click[];
  next_cursor: string | null;
};
