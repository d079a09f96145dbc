import type { SourceRow } from '../source-row.ts';
import { bitly } from './bitly.ts';
import { dub } from './dub.ts';
import type { Format } from './format.ts';
import { hoplog } from './hoplog.ts';
import { kutt } from './kutt.ts';
import { plain } from './plain.ts';
import { rebrandly } from './rebrandly.ts';
import { shlink } from './shlink.ts';
import { shortIo } from './short-io.ts';
import { sink } from './sink.ts';
import { tinyurl } from './tinyurl.ts';
import { yourls } from './yourls.ts';

/** Formats by the name that `--from` takes. They are matched in this order: the most distinctive columns first. */
const FORMATS = {
  hoplog,
  shlink,
  kutt,
  rebrandly,
  'short-io': shortIo,
  sink,
  tinyurl,
  yourls,
  bitly,
  dub,
  list: plain,
} as const satisfies Record<string, Format>;

export type LinkSource = keyof typeof FORMATS;
export const LINK_SOURCES = Object.keys(FORMATS) as LinkSource[];

/** Thrown for a file that matches no format. */
export class UnknownFormat extends Error {
  override name = 'UnknownFormat';
}

const NO_NAMES = 'a file without names of columns: its first row must be their names, such as slug and url';

/**
 * Returns the format of a file by its first row.
 *
 * @param from the only one that is right; left out: any
 * @throws {UnknownFormat} with the columns when none matches
 */
export function formatOf(row: SourceRow, from?: LinkSource): Format {
  const found = Object.values<Format>(FORMATS).find((one) => one.matches(row));
  // A file without names of columns may begin with a password.
  if (Object.keys(row.values).some((name) => name.includes('://'))) throw new UnknownFormat(NO_NAMES);
  const names = Object.keys(row.values).slice(0, 20).join(', ');
  if (from !== undefined) {
    const format: Format = FORMATS[from];
    if (format.matches(row)) return format;
    const looksLike = found ? `, which is how ${found.name} writes it` : '';
    throw new UnknownFormat(`not an export of ${format.name}: its columns are ${names}${looksLike}`);
  }
  if (found) return found;
  const known = Object.values(FORMATS)
    .filter((one) => one !== hoplog)
    .map((one) => one.name);
  throw new UnknownFormat(
    `no known export has these columns: ${names}. Give a CSV with destination_url, name, slug, … (the fields of POST /links) or an export of ${known.join(', ')}.`,
  );
}
