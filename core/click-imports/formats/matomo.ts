import { type ClickRow, NOTHING_KNOWN } from '../click-row.ts';
import type { ImportRow } from '../import-row.ts';
import { countryOf, deviceIn, known, linkByUrl } from '../values.ts';
import type { ClickFormat } from './format.ts';

/**
 * Matomo: the visits of `Live.getLastVisitsDetails` as JSON (idVisit, visitorId, countryCode, regionCode, city,
 * browserName, operatingSystemName, deviceType, referrerUrl, languageCode, and actionDetails with type, url, and
 * timestamp; https://developer.matomo.org/api-reference/reporting-api, plugins/Live/API.php in
 * https://github.com/matomo-org/matomo). Each page view, outlink or download of a visit is a click on the link of its
 * address; other actions of a visit are left out.
 */
export const matomo: ClickFormat = {
  name: 'Matomo',
  needs: [['idvisit'], ['actiondetails']],
  hint: 'it has no `idVisit` with `actionDetails`: it must be the response of Live.getLastVisitsDetails, as JSON',
  read(row) {
    const country = countryOf(row.text('countrycode'));
    const shared = {
      ...NOTHING_KNOWN,
      country,
      region: regionOf(row, country),
      city: known(row.short('city')),
      device: deviceIn(row.short('devicetype')),
      browser: withoutVersion(known(row.short('browsername', 'browser'))),
      os: withoutVersion(known(row.short('operatingsystemname', 'operatingsystem'))),
      referer: row.text('referrerurl'),
      visitor: row.text('visitorid'),
      language: row.short('languagecode').split('-')[0] ?? '',
      isBot: false,
    };
    const actions = actionsIn(row.value('actiondetails'));
    const visit = row.text('idvisit');
    const first = actions.findIndex(({ type }) => CLICKS.has(type));
    const rows = actions.flatMap(({ type, url, timestamp }, n): ClickRow[] => {
      if (!CLICKS.has(type)) return [];
      if (!Number.isInteger(timestamp))
        throw row.wrong('has an action without a `timestamp`', 'actiondetails');
      // The visit came from the referrer with its first click.
      const referer = n === first ? shared.referer : '';
      const sourceId = `${visit}/${n}`;
      return [{ ...shared, ts: Number(timestamp) * 1_000_000, link: linkByUrl(url), referer, sourceId }];
    });
    return rows;
  },
};

const CLICKS: ReadonlySet<string> = new Set(['action', 'outlink', 'download']);

type Action = { type: string; url: string; timestamp: unknown };

function actionsIn(value: unknown): Action[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    const { type, url, timestamp } = (one ?? {}) as Record<string, unknown>;
    return typeof type === 'string' && typeof url === 'string' ? [{ type, url, timestamp }] : [];
  });
}

/** Matomo has the part of the code after the country. */
function regionOf(row: ImportRow, country: string): string {
  const code = known(row.short('regioncode')).toUpperCase();
  if (code === '' || country === '') return '';
  return code.startsWith(`${country}-`) ? code : `${country}-${code}`;
}

/** Older releases write `Firefox 3.6`. */
const withoutVersion = (name: string): string => name.replace(/ [\d.]+$/, '');
