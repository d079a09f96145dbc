import type { Queryable } from './pool.ts';

/** Major units of the second currency for one of the first, or null when the operator has set no rate. */
export type RateOf = (currency: string, base: string) => number | null;

/** Reads the operator's table of rates: a few dozen rows, read whole. Same currency: 1. */
export async function readRates(db: Queryable): Promise<RateOf> {
  const { rows } = await db.query<{ currency: string; base: string; rate: string }>(
    'SELECT currency, base, rate FROM currency_rates',
  );
  const rates = new Map(rows.map((row) => [`${row.currency}/${row.base}`, Number(row.rate)]));
  return (currency, base) => (currency === base ? 1 : (rates.get(`${currency}/${base}`) ?? null));
}
