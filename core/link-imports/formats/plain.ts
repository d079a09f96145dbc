import { hostOfUrl } from '../meaning/address.ts';
import { SHORT_URLS, SLUGS } from '../meaning/link-names.ts';
import { nameOf, textOf } from '../source-row.ts';
import { linkName, slugOfUrl, tagsOf } from '../values.ts';
import type { Format } from './format.ts';

const SHORT = [...SHORT_URLS, ...SLUGS];
const LONG = [
  'longurl',
  'originalurl',
  'destinationurl',
  'destination',
  'url',
  'target',
  'long',
  'targeturl',
  'longlink',
];

/** A list of short and long URLs, as many shorteners and spreadsheets have it. A short URL may be its slug alone. */
export const plain: Format = {
  name: 'a list of short and long URLs',
  matches: ({ columns }) => SHORT.some((key) => columns.has(key)) && LONG.some((key) => columns.has(key)),
  read(row) {
    const destination = textOf(row, ...LONG);
    const short = textOf(row, ...SHORT) ?? '';
    const slug = hostOfUrl(short) === null ? short : slugOfUrl(short);
    return [
      {
        body: {
          ...(destination !== null && { destination_url: destination }),
          name: linkName(textOf(row, 'title', 'name'), destination, slug),
          slug,
          tags: tagsOf(row.columns.get('tags')?.value),
        },
        columnOf: {
          destination_url: nameOf(row, ...LONG) ?? 'longurl',
          name: nameOf(row, 'title', 'name') ?? 'title',
          slug: nameOf(row, ...SHORT) ?? 'shorturl',
        },
      },
    ];
  },
};
