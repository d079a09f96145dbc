import type { ConsolePage, ConsoleSite } from './console-site.ts';

/** What tests of the dashboard find on its page. */

export type Result = {
  rows: { dimensions: Record<string, string | null>; metrics: Record<string, number> }[];
  totals: Record<string, number>;
};

/**
 * Queries the clicks of the last 30 days.
 *
 * @param body other fields of the query
 */
export const ask = (site: ConsoleSite, body: object): Promise<Result> =>
  site.api<Result>('/analytics/query', { metrics: ['clicks'], window: { days: 30 }, ...body });

/** A number as the page writes it. */
export const count = (value: number | undefined): string => new Intl.NumberFormat('en-GB').format(value ?? 0);

export const totals = (page: ConsolePage, metric: string) =>
  page.getByRole('region', { name: 'Totals' }).getByRole('button', { name: new RegExp(`^${metric}`) });
export const card = (page: ConsolePage, name: string) => page.getByRole('region', { name, exact: true });
export const chart = (page: ConsolePage, name: RegExp): Promise<void> =>
  page.getByRole('img', { name }).waitFor();
/** A row of a list, by the beginning of its name. */
export const bar = (page: ConsolePage, list: string, name: string) =>
  page
    .getByRole('list', { name: list, exact: true })
    .getByRole('button', { name: new RegExp(`^\\W*${name}`) });
export const address = (page: ConsolePage): URLSearchParams => new URL(page.url()).searchParams;
