import { NOTHING_KNOWN } from '../click-row.ts';
import type { ImportRow } from '../import-row.ts';
import {
  adIn,
  asnIn,
  channelIn,
  countOf,
  countryIn,
  deviceIn,
  isBotIn,
  known,
  linkById,
  linkBySlug,
  linkByUrl,
  timeOf,
} from '../values.ts';
import type { ClickFormat } from './format.ts';

/** Hoplog's own columns, as docs/click-history.md lists them. The export of clicks has them too. */
export const csv: ClickFormat = {
  name: 'CSV',
  needs: [['ts']],
  hint: 'it has no column `ts`, the time of each click',
  read(row) {
    const count = countOf(row, 'count');
    if (count === 0) return [];
    return [
      {
        ...NOTHING_KNOWN,
        ts: timeOf(row, 'ts'),
        link: linkOf(row),
        country: countryIn(row, 'country'),
        region: known(row.short('region')),
        city: known(row.short('city')),
        device: deviceIn(row.short('device')),
        browser: known(row.short('browser')),
        os: known(row.short('os')),
        referer: known(row.text('referer', 'referrer')),
        userAgent: row.text('useragent'),
        visitor: row.text('visitor', 'visitorid'),
        channel: channelIn(row, 'channel'),
        language: row.short('language'),
        trigger: row.text('trigger') === 'qr' ? 'qr' : 'link',
        utmSource: row.short('utmsource'),
        utmMedium: row.short('utmmedium'),
        utmCampaign: row.short('utmcampaign'),
        utmTerm: row.short('utmterm'),
        utmContent: row.short('utmcontent'),
        ruleId: row.short('ruleid'),
        variantId: row.short('variantid'),
        asn: asnIn(row, 'asn'),
        ad: adIn(row),
        count: count ?? 1,
        isBot: isBotIn(row, 'isbot'),
      },
    ];
  },
};

function linkOf(row: ImportRow) {
  const [byId, url, slug] = [linkById(row, 'linkid'), row.text('shorturl'), row.text('slug')];
  return byId ?? linkByUrl(url) ?? linkBySlug(slug, row.text('domain'));
}
