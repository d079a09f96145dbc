import { type ClickRow, NOTHING_KNOWN } from '../click-row.ts';
import type { ImportRow } from '../import-row.ts';
import { countOf, countryOf, linkBySlug, timeOf } from '../values.ts';
import type { ClickFormat } from './format.ts';

/**
 * Kutt: the table `visits` with the link's `address` and its `domain` (server/models/visit.model.js and
 * server/queries/visit.queries.js in https://github.com/thedevs-network/kutt). A row counts the visits of a link in one
 * hour: in all, by country, by browser, by system, and by referrer. It does not say which of them belong together. So
 * the row becomes one count for each country. The count gets a browser, a system, or a referrer only where all visits
 * of the hour share it.
 */
export const kutt: ClickFormat = {
  name: 'Kutt',
  grows: true,
  needs: [['total'], ['createdat'], ['address']],
  hint: 'it has no `total`, `created_at` and `address`: it must be the table visits, joined with links',
  read(row) {
    const total = countOf(row, 'total') ?? 0;
    const shared = {
      ...NOTHING_KNOWN,
      ts: timeOf(row, 'createdat'),
      link: linkBySlug(row.text('address'), row.text('domain')),
      browser: only(row, total, BROWSERS),
      os: only(row, total, SYSTEMS),
      referer: onlyReferer(row.value('referrers'), total),
    };
    const id = row.text('id');
    const rows: ClickRow[] = [];
    let left = total;
    for (const [code, given] of Object.entries(countsIn(row.value('countries')))) {
      const count = Math.min(given, left);
      const country = countryOf(code);
      if (count <= 0 || country === '') continue;
      left -= count;
      rows.push({ ...shared, country, count, sourceId: `${id}/${country}` });
    }
    if (left > 0) rows.push({ ...shared, count: left, sourceId: `${id}/` });
    return rows;
  },
};

const BROWSERS = {
  brchrome: 'Chrome',
  bredge: 'Edge',
  brfirefox: 'Firefox',
  brie: 'IE',
  bropera: 'Opera',
  brsafari: 'Safari',
};
const SYSTEMS = {
  osandroid: 'Android',
  osios: 'iOS',
  oslinux: 'Linux',
  osmacos: 'macOS',
  oswindows: 'Windows',
};

/** Returns the name that all clicks of the row share; empty when they share none. */
function only(row: ImportRow, total: number, names: Readonly<Record<string, string>>): string {
  for (const key of ['brother', 'osother']) row.value(key);
  const found = Object.entries(names).filter(([key]) => (countOf(row, key) ?? 0) === total);
  return total > 0 && found.length === 1 ? (found[0]?.[1] ?? '') : '';
}

/** Kutt writes `www[dot]example[dot]com`. */
function onlyReferer(value: unknown, total: number): string {
  const [[host, count] = ['', 0], ...others] = Object.entries(countsIn(value));
  return others.length === 0 && count === total && host !== 'direct' ? host.replaceAll('[dot]', '.') : '';
}

/** Returns the counts of a column of JSON. */
function countsIn(value: unknown): Record<string, number> {
  let given = value;
  if (typeof value === 'string') {
    try {
      given = JSON.parse(value);
    } catch {
      return {};
    }
  }
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(
    Object.entries(given).filter((one): one is [string, number] => Number.isInteger(one[1])),
  );
}
