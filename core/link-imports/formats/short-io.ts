import { isYes, nameOf, type SourceRow, textOf } from '../source-row.ts';
import { defined, instantText, linkName, tagsOf } from '../values.ts';
import type { Format } from './format.ts';

/**
 * Short.io. JSON: `GET /api/links` (`originalURL`, `path`, `title`, `tags`, `expiresAt` in milliseconds or ISO 8601,
 * `expiredURL`, `iphoneURL`, `androidURL`, `splitURL` with `splitPercent`, `clicksLimit`, `redirectType`, `skipQS`,
 * `archived`, `utmSource`, …; https://developers.short.io/reference/post_links-public). CSV: the same names as columns.
 */
export const shortIo: Format = {
  name: 'Short.io',
  matches: ({ columns }) => columns.has('originalurl') && columns.has('path'),
  read(row) {
    const destination = textOf(row, 'originalurl');
    const slug = textOf(row, 'path') ?? '';
    const ios = textOf(row, 'iphoneurl');
    const android = textOf(row, 'androidurl');
    return [
      {
        body: defined({
          destination_url: destination,
          name: linkName(textOf(row, 'title'), destination, slug),
          slug,
          tags: tagsOf(row.columns.get('tags')?.value),
          expires_at: instantIn(textOf(row, 'expiresat')),
          expired_redirect_url: textOf(row, 'expiredurl'),
          max_clicks: numberIn(textOf(row, 'clickslimit')),
          redirect_status: numberIn(textOf(row, 'redirecttype')),
          forward_query: isYes(row.columns.get('skipqs')?.value) ? false : null,
          archived: isYes(row.columns.get('archived')?.value) ? true : null,
          targeting: ios === null && android === null ? null : defined({ ios, android }),
          split: splitOf(row, destination),
          utm_source: textOf(row, 'utmsource'),
          utm_medium: textOf(row, 'utmmedium'),
          utm_campaign: textOf(row, 'utmcampaign'),
          utm_term: textOf(row, 'utmterm'),
          utm_content: textOf(row, 'utmcontent'),
        }),
        columnOf: {
          destination_url: nameOf(row, 'originalurl') ?? 'originalURL',
          name: nameOf(row, 'title') ?? 'title',
          slug: nameOf(row, 'path') ?? 'path',
          expires_at: 'expiresAt',
          expired_redirect_url: 'expiredURL',
          max_clicks: 'clicksLimit',
          redirect_status: 'redirectType',
          'targeting.ios': 'iphoneURL',
          'targeting.android': 'androidURL',
        },
      },
    ];
  },
};

const numberIn = (text: string | null) => (text !== null && /^\d{1,15}$/.test(text) ? Number(text) : text);

/** Milliseconds since the epoch, or a time. */
function instantIn(text: string | null): string | null {
  if (text === null) return null;
  return /^\d{12,14}$/.test(text) ? new Date(Number(text)).toISOString() : instantText(text);
}

function splitOf(row: SourceRow, destination: string | null): unknown {
  const other = textOf(row, 'spliturl');
  const percent = numberIn(textOf(row, 'splitpercent'));
  if (other === null || destination === null || typeof percent !== 'number') return null;
  if (percent <= 0 || percent >= 100) return null;
  return [
    { id: 'a', destination_url: destination, weight: 100 - percent },
    { id: 'b', destination_url: other, weight: percent },
  ];
}
