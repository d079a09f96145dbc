import { NOTHING_KNOWN } from '../click-row.ts';
import { countryOf, known, linkBySlug, timeOf } from '../values.ts';
import type { ClickFormat } from './format.ts';

/**
 * YOURLS: the table `yourls_log` (click_id, click_time, shorturl, referrer, user_agent, ip_address, country_code;
 * includes/functions-install.php in https://github.com/YOURLS/YOURLS). A visitor is an address with a user agent; the
 * address is only hashed.
 */
export const yourls: ClickFormat = {
  name: 'YOURLS',
  needs: [['clicktime'], ['shorturl']],
  hint: 'it has no `click_time` with `shorturl`: it must be the table yourls_log',
  read(row) {
    const [address, userAgent, id] = [row.text('ipaddress'), row.text('useragent'), row.text('clickid')];
    return [
      {
        ...NOTHING_KNOWN,
        ts: timeOf(row, 'clicktime'),
        link: linkBySlug(row.text('shorturl'), ''),
        country: countryOf(row.text('countrycode')),
        referer: known(row.text('referrer')),
        userAgent,
        visitor: address === '' ? '' : `${address} ${userAgent}`,
        sourceId: id,
      },
    ];
  },
};
