/** What the API answers about a workspace's statistics, as far as this page uses it. */

export type Figures = { clicks: number; visitors: number; conversions: number; revenue: number };

/** Instants that an answer is about. */
export type AnswerWindow = { from: string; to: string };

/** `GET /stats` */
export type Stats = {
  window: AnswerWindow;
  totals: Figures;
  previous: { totals: Figures };
  currency: string;
  bucket: 'hour' | 'day' | 'month';
  series: (Figures & { start: string })[];
};

export type Dimension = 'channel' | 'link' | 'country' | 'device' | 'browser' | 'os';

/** `GET /stats/breakdown` */
export type Breakdown = {
  window: AnswerWindow;
  rows: {
    /** Empty: not known. */
    value: string;
    clicks: number;
    visitors: number;
    /** By channel and link only. */
    conversions?: number;
    revenue?: number;
    link?: { id: string; slug: string; name: string; channel: string | null };
  }[];
};
