import { NOTHING_KNOWN } from '../click-row.ts';
import { countryOf, isBotIn, known, linkBySlug, linkByUrl, timeOf } from '../values.ts';
import type { ClickFormat } from './format.ts';

/**
 * Shlink. JSON: `GET /rest/v3/short-urls/{shortCode}/visits` (`visits.data`: referer, date, userAgent, visitLocation,
 * potentialBot, visitedUrl; docs/swagger/definitions/Visit.json and VisitLocation.json in
 * https://github.com/shlinkio/shlink). CSV: the visits that the web client exports (date, browser, os, referer,
 * country, city, potentialBot; `NormalizedRegularVisit` of src/visits/types/index.ts in
 * https://github.com/shlinkio/shlink-web-component), or the table `visits` joined with `short_urls` and
 * `visit_locations`. Shlink knows no visitors.
 */
export const shlink: ClickFormat = {
  name: 'Shlink',
  needs: [['date'], ['referer', 'useragent']],
  hint: 'it has no `date` with `referer`: it must be visits, not short URLs',
  read(row) {
    const place = locationOf(row.value('visitlocation'));
    return [
      {
        ...NOTHING_KNOWN,
        ts: timeOf(row, 'date'),
        link:
          linkByUrl(row.text('visitedurl', 'shorturl')) ??
          linkBySlug(row.text('shortcode'), row.text('domain', 'authority')),
        country: countryOf(place.countryCode || row.text('countrycode', 'country', 'countryname')),
        region: known(place.regionName || row.short('regionname')),
        city: known(place.cityName || row.short('cityname', 'city')),
        browser: known(row.short('browser')),
        os: known(row.short('os')),
        referer: known(row.text('referer')),
        userAgent: row.text('useragent'),
        isBot: isBotIn(row, 'potentialbot'),
      },
    ];
  },
};

function locationOf(value: unknown): { countryCode: string; regionName: string; cityName: string } {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const text = (name: string) => (typeof given[name] === 'string' ? String(given[name]).slice(0, 255) : '');
  return { countryCode: text('countryCode'), regionName: text('regionName'), cityName: text('cityName') };
}
