import { cardImage } from '../meaning/card-image.ts';
import { nameOf, type SourceRow, textOf } from '../source-row.ts';
import { defined, linkName } from '../values.ts';
import { countryRules } from './country-rules.ts';
import type { Format } from './format.ts';

/**
 * Sink. JSON: the dashboard's export, an object with `links` of `slug`, `url`, `comment`, `expiration` in seconds,
 * `title`, `description`, `image`, `apple`, `google`, `geo`, `redirectWithQuery`, `password` (`LinkSchema` and
 * `ExportData` in https://github.com/miantiao-me/Sink, shared/schemas/link.ts).
 */
export const sink: Format = {
  name: 'Sink',
  matches: (row) =>
    row.from === 'json' &&
    row.columns.has('slug') &&
    row.columns.has('url') &&
    row.columns.has('id') &&
    row.columns.has('createdat'),
  read(row) {
    const destination = textOf(row, 'url');
    const slug = textOf(row, 'slug') ?? '';
    const [ios, android] = [textOf(row, 'apple'), textOf(row, 'google')];
    const rules = countryRules(row, { ios, android });
    return [
      {
        body: defined({
          destination_url: destination,
          name: linkName(textOf(row, 'comment', 'title'), destination, slug),
          slug,
          targeting: rules !== null || (ios === null && android === null) ? null : defined({ ios, android }),
          rules,
          preview: previewOf(row),
        }),
        columnOf: {
          destination_url: 'url',
          name: nameOf(row, 'comment', 'title') ?? 'comment',
          'targeting.ios': 'apple',
          'targeting.android': 'google',
          'preview.title': 'title',
          'preview.description': 'description',
          'preview.image_url': 'image',
          rules: 'geo',
        },
      },
    ];
  },
};

function previewOf(row: SourceRow): Record<string, unknown> | null {
  const preview = defined({
    title: textOf(row, 'title'),
    description: textOf(row, 'description'),
    image_url: cardImage(row, textOf(row, 'image')),
  });
  return Object.keys(preview).length === 0 ? null : preview;
}
