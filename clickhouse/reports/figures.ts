/** The figures of a row of a report. Bots are in none of them. */
export type Figures = {
  clicks: number;
  /** Different visitor ids, never more than `clicks`. */
  visitors: number;
  /** First identifies of persons, in fractions where links share one. */
  leads: number;
  /** Orders, in fractions where links share an order. */
  conversions: number;
  /** Minor units of the workspace's currency. */
  revenueMinor: bigint;
};

/** {@link Figures} as ClickHouse sends them. */
export type FigureRow = {
  clicks: string;
  visitors: string;
  leads: number;
  conversions: number;
  revenue: string;
};

/** The columns of a {@link FigureRow} over rows that hold figures of clicks or of orders. */
export const SUMMED_FIGURES = `sum(clicks) AS clicks, sum(visitors) AS visitors, sum(leads) AS leads,
  sum(conversions) AS conversions, sum(revenue) AS revenue`;

/** Thirds add up to 0.9999999999999999 in binary: a billionth of an order is noise. */
export const CONVERSION_DIGITS = 9;

/** Compares rows of a report: most revenue first, then most clicks. */
export function byRevenueThenClicks(a: Figures, b: Figures): number {
  if (a.revenueMinor !== b.revenueMinor) return a.revenueMinor > b.revenueMinor ? -1 : 1;
  return b.clicks - a.clicks;
}

/** Parses a row of figures. */
export function toFigures(row: FigureRow): Figures {
  return {
    clicks: Number(row.clicks),
    visitors: Number(row.visitors),
    leads: Number(row.leads.toFixed(CONVERSION_DIGITS)),
    conversions: Number(row.conversions.toFixed(CONVERSION_DIGITS)),
    revenueMinor: BigInt(row.revenue),
  };
}
