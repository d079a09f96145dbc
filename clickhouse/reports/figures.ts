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

/** Thirds add up to 0.9999999999999999 in binary: a billionth of an order is noise. */
export const CONVERSION_DIGITS = 9;

/** Compares rows of a report: most revenue first, then most clicks. */
export function byRevenueThenClicks(a: Figures, b: Figures): number {
  if (a.revenueMinor !== b.revenueMinor) return a.revenueMinor > b.revenueMinor ? -1 : 1;
  return b.clicks - a.clicks;
}

/** Parses a row of figures. A figure that was not asked for is 0. */
export function toFigures(row: Partial<FigureRow>): Figures {
  const { clicks = 0, visitors = 0, leads = 0, conversions = 0, revenue = 0 } = row;
  return {
    clicks: Number(clicks),
    visitors: Number(visitors),
    leads: Number(leads.toFixed(CONVERSION_DIGITS)),
    conversions: Number(conversions.toFixed(CONVERSION_DIGITS)),
    revenueMinor: BigInt(revenue),
  };
}
