import { DIMENSIONS, type Dimension, type Metric } from '../../../core/analytics/dimensions.ts';
import { CLICK_NAMES, clickField } from '../../../core/clicks/field-names.ts';
import { channelName, countryName, formatCount, formatMoney, formatPercent } from '../formats.ts';
import type { Result, Row } from './source.ts';

export { METRIC_NAMES } from '../../../core/analytics/metric-names.ts';

/** Formats a metric's value. Null: there is nothing to divide by. */
export function formatMetric(metric: Metric, value: number | null | undefined, currency: string): string {
  if (value === null || value === undefined) return '–';
  if (metric === 'conversion_rate') return formatPercent(value);
  if (metric === 'revenue' || metric === 'revenue_per_click') return formatMoney(value, currency);
  return formatCount(value);
}

const CLICK_DIMENSIONS = CLICK_NAMES.flatMap((name) => {
  const { dimension, label, none } = clickField(name);
  return dimension === undefined ? [] : [{ dimension, label, none }];
});

const namesFrom = (names: [string, string | undefined][]): Partial<Record<Dimension, string>> =>
  Object.fromEntries(names.filter(([, name]) => name !== undefined));

/** Name of one value's dimension, for headings and filters. */
export const DIMENSION_NAMES: Partial<Record<Dimension, string>> = {
  link: 'Link',
  campaign: 'Campaign',
  tag: 'Tag',
  folder: 'Folder',
  ...namesFrom(CLICK_DIMENSIONS.map(({ dimension, label }) => [dimension, label])),
};

/** Dimensions that a person can filter by, in the order of the list. */
export const FILTERED_DIMENSIONS = DIMENSIONS.filter((dimension) => dimension in DIMENSION_NAMES);

/** Dimensions whose values are ids: a person chooses them from a list, and `contains` does not apply. */
export const ID_DIMENSIONS: ReadonlySet<Dimension> = new Set(['link', 'campaign', 'folder']);

export type Tab = { dimension: Dimension; title: string; map?: true };

/** A card of the page; its tab is in the URL under `parameter`. */
export type Card = { parameter: string; label: string; tabs: Tab[] };

const tab = (dimension: Dimension, title: string): Tab => ({ dimension, title });

/** The cards of the page. A dimension that the API does not have is left out. */
export const CARDS: Card[] = [
  {
    parameter: 'source',
    label: 'Sources',
    tabs: [
      tab('channel', 'Channels'),
      tab('source', 'Sources'),
      tab('referer_host', 'Referrers'),
      tab('campaign', 'Campaigns'),
      tab('utm_source', 'UTM source'),
      tab('utm_medium', 'UTM medium'),
      tab('utm_campaign', 'UTM campaign'),
      tab('utm_term', 'UTM term'),
      tab('utm_content', 'UTM content'),
      tab('ad_network', 'Ads'),
    ],
  },
  {
    parameter: 'place',
    label: 'Places',
    tabs: [
      { dimension: 'country', title: 'Map', map: true } as const,
      tab('country', 'Countries'),
      tab('region', 'Regions'),
      tab('city', 'Cities'),
      tab('language', 'Languages'),
    ],
  },
  {
    parameter: 'content',
    label: 'Links',
    tabs: [
      tab('link', 'Links'),
      tab('tag', 'Tags'),
      tab('folder', 'Folders'),
      tab('domain', 'Domains'),
      tab('trigger', 'QR codes'),
    ],
  },
  {
    parameter: 'tech',
    label: 'Technology',
    tabs: [tab('device', 'Devices'), tab('browser', 'Browsers'), tab('os', 'Systems')],
  },
].map(({ tabs, ...card }) => ({
  ...card,
  tabs: tabs.filter(({ dimension }) => DIMENSIONS.includes(dimension)),
}));

/** The value of a tab in the URL. */
export const tabKey = ({ dimension, map }: Tab): string => (map ? 'map' : dimension);

const languages = new Intl.DisplayNames(undefined, { type: 'language' });

/** How a value of a dimension is shown. Null: unknown. */
export function valueName(dimension: Dimension, value: string | null, names?: Result['names']): string {
  if (value === null) return EMPTY_NAMES[dimension] ?? 'Unknown';
  if (dimension === 'channel') return channelName(value);
  if (dimension === 'country') return countryName(value);
  if (dimension === 'device') return `${value.charAt(0).toUpperCase()}${value.slice(1)}`;
  if (dimension === 'continent') return CONTINENTS[value] ?? value;
  if (dimension === 'trigger') return value === 'qr' ? 'QR code' : 'Link';
  if (dimension === 'source') return value === 'direct' ? 'Direct' : value;
  if (dimension === 'source_kind') return SOURCE_KIND_NAMES[value] ?? value;
  if (dimension === 'ad_network') return AD_NETWORK_NAMES[value] ?? value;
  if (dimension === 'language') return languageName(value);
  if (dimension === 'region') return regionName(value);
  if (ID_DIMENSIONS.has(dimension)) return nameOfId(dimension, value, names)?.name ?? `${value.slice(0, 8)}…`;
  return value;
}

/** Names of the kinds of sources. */
const SOURCE_KIND_NAMES: Readonly<Record<string, string>> = {
  search: 'Search',
  ai: 'AI assistants',
  social: 'Social',
  mail: 'Mail',
  video: 'Video',
  code: 'Code',
  app: 'Apps',
  site: 'Sites',
  direct: 'Direct',
};

/** What an unknown value of a dimension means. */
const EMPTY_NAMES: Partial<Record<Dimension, string>> = {
  tag: 'No tag',
  folder: 'No folder',
  ...namesFrom(CLICK_DIMENSIONS.map(({ dimension, none }) => [dimension, none])),
};

const CONTINENTS: Record<string, string> = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
};

const AD_NETWORK_NAMES: Record<string, string> = {
  google: 'Google Ads',
  meta: 'Meta Ads',
  microsoft: 'Microsoft Advertising',
  tiktok: 'TikTok Ads',
  x: 'X Ads',
  linkedin: 'LinkedIn Ads',
  reddit: 'Reddit Ads',
  pinterest: 'Pinterest Ads',
  snapchat: 'Snapchat Ads',
};

function languageName(code: string): string {
  try {
    return languages.of(code) ?? code;
  } catch {
    return code;
  }
}

/** `DE-BE`: the code of ISO 3166-2 with its country; browsers know no names of regions. */
const regionName = (code: string) =>
  `${code.slice(code.indexOf('-') + 1)}, ${countryName(code.split('-', 1)[0] ?? '')}`;

/** The name of an id, and for a link its campaign, where the response has them. */
export function nameOfId(
  dimension: Dimension,
  id: string,
  names: Result['names'],
): { name: string; note?: string } | undefined {
  return names?.[dimension]?.[id];
}

/** The flag of a country as an emoji; empty for an unknown one. */
export function flagOf(country: string | null): string {
  if (country === null || !/^[A-Z]{2}$/.test(country)) return '';
  return String.fromCodePoint(...[...country].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));
}

/** The flag beside a value: of a country, or of a region's. */
export const flagBeside = (dimension: Dimension, value: string | null): string =>
  dimension === 'country' || dimension === 'region' ? flagOf(value?.split('-', 1)[0] ?? null) : '';

/** The value of a row's only dimension as text. */
export function valueIn({ dimensions }: Row, dimension: Dimension): string | null {
  const value = dimensions[dimension];
  return value === null || value === undefined ? null : String(value);
}
