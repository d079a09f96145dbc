import { nameOf, type SourceRow, textOf } from '../source-row.ts';
import { defined, linkName, tagsOf } from '../values.ts';
import type { Format } from './format.ts';

/**
 * Short.io. JSON: `GET /api/links` (`originalURL`, `path`, `title`, `tags`, `expiresAt` in milliseconds or ISO 8601,
 * `expiredURL`, `iphoneURL`, `androidURL`, `splitURL` with `splitPercent`, `redirectType`, `utmSource`,
 * `integrationFB`, `integrationGA`, …; https://developers.short.io/reference/post_links-public). CSV: the same names as
 * columns.
 */
export const shortIo: Format = {
  name: 'Short.io',
  matches: ({ columns }) => columns.has('originalurl') && columns.has('path'),
  read(row) {
    const { destination, split } = destinationsOf(row);
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
          expired_redirect_url: textOf(row, 'expiredurl'),
          redirect_status: numberIn(textOf(row, 'redirecttype')),
          retargeting: pixelsOf(row),
          targeting: ios === null && android === null ? null : defined({ ios, android }),
          split,
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
          expired_redirect_url: 'expiredURL',
          'retargeting.facebook': 'integrationFB',
          'retargeting.google': 'integrationGA',
          redirect_status: 'redirectType',
          'targeting.ios': 'iphoneURL',
          'targeting.android': 'androidURL',
        },
      },
    ];
  },
};

const numberIn = (text: string | null) => (text !== null && /^\d{1,15}$/.test(text) ? Number(text) : text);

/** Google Analytics has ids of pixels that we have too; Google Tag Manager and AdRoll have others. */
const GOOGLE = /^(?:AW|DC|G|GT|UA)-/;

function pixelsOf(row: SourceRow): Record<string, unknown> | null {
  const google = textOf(row, 'integrationga');
  const isKnown = google !== null && GOOGLE.test(google);
  if (google !== null && !isKnown) row.columns.left.add('integrationga');
  const pixels = defined({ facebook: textOf(row, 'integrationfb'), google: isKnown ? google : null });
  return Object.keys(pixels).length === 0 ? null : pixels;
}

/** Short.io sends `splitPercent` of the visitors to `splitURL`; all of them with 100. */
function destinationsOf(row: SourceRow): { destination: string | null; split: unknown } {
  const [first, other] = [textOf(row, 'originalurl'), textOf(row, 'spliturl')];
  const given = textOf(row, 'splitpercent');
  if (other === null || first === null) return { destination: first, split: null };
  const percent = Number(given ?? Number.NaN);
  if (percent === 100) return { destination: other, split: null };
  if (!(percent > 0 && percent < 100)) {
    row.columns.left.add('spliturl');
    return { destination: first, split: null };
  }
  // Weights are whole numbers.
  const weight = Math.min(Math.max(Math.round(percent), 1), 99);
  if (weight !== percent) row.columns.left.add('splitpercent');
  const split = [
    { id: 'a', destination_url: first, weight: 100 - weight },
    { id: 'b', destination_url: other, weight },
  ];
  return { destination: first, split };
}
