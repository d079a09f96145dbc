import { creatableChannel } from '../../enrich/channels.ts';
import { NAME_LIMIT } from '../create-row.ts';
import { nameOf, type SourceRow, textOf } from '../source-row.ts';
import { cut, instantText, nameOfDestination, slugOfUrl, tagsOf } from '../values.ts';
import type { Format } from './format.ts';

/**
 * Dub. CSV: the dashboard's export, with the chosen columns of Short link, Destination URL, Clicks, Leads,
 * Conversions, Revenue, Created at, Link ID, Updated at, Tags, Archived (`exportLinksColumns` in
 * https://github.com/dubinc/dub, apps/web/lib/zod/schemas/links.ts), or the older one with the API's fields. JSON:
 * the response of `GET /links`, whose fields are in the same file (`domain`, `key`, `url`, `externalId`, `expiresAt`,
 * `expiredUrl`, `password`, `title`, `tags`, `ios`, `android`, `utm_source`, `utm_campaign`, `shortLink`).
 *
 * Device targeting is imported where iOS and Android lead to the same page. Other targeting by country or device has
 * no counterpart: the link leads to its own destination.
 */
export const dub: Format = {
  name: 'Dub',
  matches: ({ columns }) =>
    (columns.has('shortlink') && (columns.has('destinationurl') || columns.has('url'))) ||
    (columns.has('key') && columns.has('url') && columns.has('domain')),
  read(row) {
    const destination = textOf(row, 'destinationurl', 'url');
    const slug = slugOf(row);
    const channel = creatableChannel(fieldOf(row, 'utmsource')?.toLowerCase() ?? '');
    const name = fieldOf(row, 'title') ?? nameOfDestination(destination ?? slug ?? '');
    const mobile = fieldOf(row, 'ios');
    const fields = {
      destination_url: destination,
      name: cut(name, NAME_LIMIT),
      slug,
      channel,
      external_id: fieldOf(row, 'externalid'),
      tags: tagsOf(nullless(row.columns.get('tags')?.value)),
      utm_campaign: fieldOf(row, 'utmcampaign'),
      expires_at: fieldOf(row, 'expiresat') && instantText(fieldOf(row, 'expiresat') ?? ''),
      expired_redirect_url: fieldOf(row, 'expiredurl'),
      password: fieldOf(row, 'password'),
      targeting: mobile !== null && mobile === fieldOf(row, 'android') ? { mobile } : null,
    };
    return [
      {
        body: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)),
        columnOf: {
          destination_url: nameOf(row, 'destinationurl', 'url') ?? 'url',
          name: nameOf(row, 'title') ?? 'title',
          slug: nameOf(row, 'key', 'shortlink') ?? 'key',
          external_id: 'externalId',
          expires_at: 'expiresAt',
          expired_redirect_url: 'expiredUrl',
          'targeting.mobile': 'ios',
        },
      },
    ];
  },
};

function slugOf(row: SourceRow): string | null {
  const key = fieldOf(row, 'key');
  if (key !== null) return key;
  const link = fieldOf(row, 'shortlink');
  return link === null ? null : slugOfUrl(link);
}

/** The older CSV writes `null` for missing values. */
function fieldOf(row: SourceRow, key: string): string | null {
  return nullless(textOf(row, key));
}

function nullless<T>(value: T): T | null {
  return value === 'null' || value === undefined ? null : value;
}
