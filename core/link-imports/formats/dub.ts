import { creatableChannel } from '../../enrich/channels.ts';
import { NANOS_PER_MILLI, parseInstant } from '../../time/timestamps.ts';
import { cardImage } from '../meaning/card-image.ts';
import { isYes, nameOf, RowProblem, type SourceRow, textOf } from '../source-row.ts';
import { defined, instantText, linkName, slugOfUrl, tagsOf } from '../values.ts';
import { countryRules } from './country-rules.ts';
import type { Format } from './format.ts';
import { fieldOf, jsonIn, nullless } from './null-texts.ts';

/**
 * Dub. CSV: the dashboard's export, with the chosen columns of Short link, Destination URL, Clicks, Leads,
 * Conversions, Revenue, Created at, Link ID, Updated at, Tags, Archived (`exportLinksColumns` in
 * https://github.com/dubinc/dub, apps/web/lib/zod/schemas/links.ts), or the older one with the API's fields. JSON:
 * the response of `GET /links`, whose fields are in the same file (`domain`, `key`, `url`, `externalId`, `expiresAt`,
 * `expiredUrl`, `password`, `title`, `tags`, `ios`, `android`, `geo`, `testVariants` with `url` and `percentage`,
 * `testCompletedAt`, `utm_source`, `utm_campaign`, `shortLink`).
 *
 * Dub asks the system before the country, and rules are asked before targeting: with `geo` both become rules. A test
 * that is over has no variants: Dub has made the winner the destination.
 */
export const dub: Format = {
  name: 'Dub',
  matches: ({ columns }) =>
    (columns.has('shortlink') && (columns.has('destinationurl') || columns.has('url'))) ||
    (columns.has('key') && columns.has('url') && columns.has('domain')),
  read(row) {
    const destination = textOf(row, 'destinationurl', 'url');
    const slug = slugOf(row);
    if (slug === ROOT) throw new RowProblem(nameOf(row, 'key', 'shortlink'), OF_ROOT);
    const channel = creatableChannel(fieldOf(row, 'utmsource')?.toLowerCase() ?? '');
    const [ios, android] = [fieldOf(row, 'ios'), fieldOf(row, 'android')];
    const rules = countryRules(row, { ios, android });
    const split = splitOf(row);
    const fields = {
      destination_url: destination,
      name: linkName(fieldOf(row, 'title'), destination, slug ?? ''),
      slug,
      channel,
      external_id: fieldOf(row, 'externalid'),
      tags: tagsOf(nullless(row.columns.get('tags')?.value)),
      utm_campaign: fieldOf(row, 'utmcampaign'),
      expired_redirect_url: fieldOf(row, 'expiredurl'),
      preview: previewOf(row),
      targeting: rules !== null || (ios === null && android === null) ? null : defined({ ios, android }),
      rules,
      ...split,
    };
    return [
      {
        body: defined(fields),
        columnOf: {
          destination_url: nameOf(row, 'destinationurl', 'url') ?? 'url',
          name: nameOf(row, 'title') ?? 'title',
          slug: nameOf(row, 'key', 'shortlink') ?? 'key',
          external_id: 'externalId',
          'preview.title': 'title',
          'preview.description': 'description',
          'preview.image_url': 'image',
          expired_redirect_url: 'expiredUrl',
          'targeting.ios': 'ios',
          'targeting.android': 'android',
          rules: 'geo',
          split: 'testVariants',
        },
      },
    ];
  },
};

/** Dub's key of a domain's own page. */
const ROOT = '_root';
const OF_ROOT =
  'is the root of the domain, which is no link: set its destination as `root_url` of the domain, and leave the row out';

/** Dub's custom cards. */
function previewOf(row: SourceRow): Record<string, unknown> | null {
  const [title, description, image] = [
    fieldOf(row, 'title'),
    fieldOf(row, 'description'),
    fieldOf(row, 'image'),
  ];
  if (!isYes(row.columns.get('proxy')?.value)) return null;
  const preview = defined({ title, description, image_url: cardImage(row, image) });
  return Object.keys(preview).length === 0 ? null : preview;
}

/** Dub's winner is the variant with the most leads. */
function splitOf(row: SourceRow): Record<string, unknown> {
  const variants = jsonIn(row, 'testvariants');
  if (!Array.isArray(variants) || variants.length < 2) return {};
  const end = fieldOf(row, 'testcompletedat');
  const nanos = end === null ? null : parseInstant(instantText(end));
  if (nanos !== null && nanos <= BigInt(Date.now()) * NANOS_PER_MILLI) return {};
  return {
    split: variants.map(({ url, percentage }: { url?: unknown; percentage?: unknown }, nth) => ({
      id: String.fromCharCode(97 + nth),
      destination_url: url,
      weight: percentage,
    })),
    ...(end !== null && { split_ends_at: instantText(end), split_goal: 'leads' }),
  };
}

function slugOf(row: SourceRow): string | null {
  const key = fieldOf(row, 'key');
  if (key !== null) return key;
  const link = fieldOf(row, 'shortlink');
  return link === null ? null : slugOfUrl(link);
}
