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

/** In matching order: the format with the most distinctive columns first. */
const FORMATS: readonly Format[] = [
  hoplog,
  shlink,
  kutt,
  rebrandly,
  shortIo,
  sink,
  tinyurl,
  yourls,
  bitly,
  dub,
  plain,
];

/** Thrown for a file that matches no format. */
export class UnknownFormat extends Error {
  override name = 'UnknownFormat';
}

/**
 * Returns the format of a file by its first row.
 *
 * @throws {UnknownFormat} with the columns when none matches
 */
export function formatOf(row: SourceRow): Format {
  const format = FORMATS.find((one) => one.matches(row));
  if (format) return format;
  const names = Object.keys(row.values).slice(0, 20).join(', ');
  throw new UnknownFormat(
    `no known export has these columns: ${names}. Give a CSV with destination_url, name, slug, … (the fields of POST /links) or an export of ${FORMATS.slice(
      1,
    )
      .map((one) => one.name)
      .join(', ')}.`,
  );
}
