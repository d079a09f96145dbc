import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';

/** Returns major units of the second currency for one of the first, or null when the operator set no rate. */
export type RateOf = (currency: string, base: string) => number | null;

/** The operator's rate: `rate` major units of `base` for one of `currency`. Codes in lower case. */
export type CurrencyRate = { currency: string; base: string; rate: number; updated_at: Date };

type Row = Omit<CurrencyRate, 'rate'> & { rate: string };

const COLUMNS = 'currency, base, rate, updated_at';

/** Converted here and not in SQL, where one rate beyond the range of doubles would fail every read of the table. */
const rateOf = (row: Row): CurrencyRate => ({ ...row, rate: Number(row.rate) });

/**
 * Returns the operator's rates: a few dozen rows, read whole. The rate of a currency to itself is 1. A rate serves
 * one direction: none is inverted, and no two are chained.
 */
export async function readRates(db: Queryable): Promise<RateOf> {
  const rates = new Map(
    (await listRates(db)).map(({ currency, base, rate }) => [`${currency}/${base}`, rate]),
  );
  return (currency, base) => (currency === base ? 1 : (rates.get(`${currency}/${base}`) ?? null));
}

/**
 * {@link readRates} under a lock: no rate is added until the transaction ends. A waiting {@link setRate} then sees
 * which orders had no rate.
 */
export async function lockRatesShared(transaction: Queryable): Promise<RateOf> {
  await transaction.query('SELECT pg_advisory_xact_lock_shared($1)', [ADVISORY_LOCKS.currencyRates]);
  return readRates(transaction);
}

/** Returns every rate, by its currencies. */
export async function listRates(db: Queryable): Promise<CurrencyRate[]> {
  const { rows } = await db.query<Row>(`SELECT ${COLUMNS} FROM currency_rates ORDER BY currency, base`);
  return rows.map(rateOf);
}

/**
 * Sets or replaces the rate of a pair. Converted amounts stay as they are; `attributeAnew` handles orders that had no
 * rate.
 */
export async function setRate(
  pool: Pool,
  { currency, base, rate }: Omit<CurrencyRate, 'updated_at'>,
): Promise<CurrencyRate> {
  return inTransaction(pool, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.currencyRates]);
    const { rows } = await tx.query<Row>(
      `INSERT INTO currency_rates (currency, base, rate) VALUES ($1, $2, $3)
       ON CONFLICT (currency, base) DO UPDATE SET rate = excluded.rate, updated_at = now()
       RETURNING ${COLUMNS}`,
      [currency, base, rate],
    );
    const [row] = rows;
    if (!row) throw new Error(`the rate of ${currency} in ${base} was not stored`);
    return rateOf(row);
  });
}

/** Deletes the rate of a pair and returns it, or null when there is none. */
export async function deleteRate(
  db: Queryable,
  currency: string,
  base: string,
): Promise<CurrencyRate | null> {
  const { rows } = await db.query<Row>(
    `DELETE FROM currency_rates WHERE currency = $1 AND base = $2 RETURNING ${COLUMNS}`,
    [currency, base],
  );
  return rows[0] ? rateOf(rows[0]) : null;
}
