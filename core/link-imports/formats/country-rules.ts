import type { SourceRow } from '../source-row.ts';
import { defined } from '../values.ts';
import { jsonIn } from './null-texts.ts';

/**
 * Returns rules for `geo`, the destinations by country of Dub and Sink; null: there are none. Both services ask the
 * system first, and here rules are asked before targeting: so the systems become rules too.
 *
 * @param systems destinations by system
 */
export function countryRules(row: SourceRow, systems: Record<string, string | null>): unknown[] | null {
  const geo = jsonIn(row, 'geo');
  if (typeof geo !== 'object' || geo === null || Object.keys(geo).length === 0) return null;
  const rule = (type: string, values: string[], destination_url: unknown) => ({
    conditions: [{ type, operator: 'is', values }],
    destination_url,
  });
  const countries = Object.groupBy(Object.entries(geo), ([, url]) => String(url));
  return [
    ...Object.entries(defined(systems)).map(([system, url]) => rule('os', [system], url)),
    ...Object.entries(countries).map(([url, entries = []]) =>
      rule(
        'country',
        entries.map(([country]) => country),
        url,
      ),
    ),
  ];
}
