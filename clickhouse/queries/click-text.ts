import { clickRecord } from '../../core/clicks/click-record.ts';
import { NO_LINK } from '../../core/clicks/field-names.ts';
import { clickId } from '../../core/ids.ts';
import { formatInstant } from '../../core/time/timestamps.ts';
import { type ShownClickRow, toShownClick } from './shown-clicks.ts';

/** A click as JSON text, with the fields that are needed without parsing it. */
export type ClickText = {
  tsNanos: bigint;
  linkId: string;
  isBot: boolean;
  /** The JSON of its `clickRecord`, byte for byte. */
  json: string;
};

/** The settings of a query of `SHOWN_COLUMNS` for {@link toClickText}: a `/` is not escaped, as in JavaScript. */
export const SHOWN_AS_TEXT = { output_format_json_escape_forward_slashes: 0 } as const;

/** The text before a row's time, and before its link id once the time is cut off. */
const BEFORE_NANOS = '{"nanos":"';
const BEFORE_LINK = '"link_id":"';
const UUID_LENGTH = 36;

/**
 * Returns a row as the text of its click. Only the head differs, so the rest is not parsed. ClickHouse escapes other
 * characters than JavaScript does: a row with an escape is parsed.
 *
 * @param line a row of `SHOWN_COLUMNS`, with the settings {@link SHOWN_AS_TEXT}
 */
export function toClickText(line: string): ClickText {
  const end = line.indexOf('"', BEFORE_NANOS.length);
  const tsNanos = BigInt(line.slice(BEFORE_NANOS.length, end));
  const shown = line.slice(end + 2);
  const afterLink = BEFORE_LINK.length + UUID_LENGTH;
  const linkId = shown.slice(BEFORE_LINK.length, afterLink);
  const fields = linkId === NO_LINK ? `"link_id":null${shown.slice(afterLink + 1)}` : shown;
  return {
    tsNanos,
    linkId,
    isBot: shown.endsWith('true}'),
    json: line.includes('\\')
      ? JSON.stringify(clickRecord(toShownClick(JSON.parse(line) as ShownClickRow)))
      : `{"id":"${clickId(tsNanos)}","ts":"${formatInstant(tsNanos, 6)}",${fields}`,
  };
}
