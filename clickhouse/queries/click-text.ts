import { clickRecord } from '../../core/clicks/click-record.ts';
import { clickId } from '../../core/ids.ts';
import { formatInstant } from '../../core/time/timestamps.ts';
import { type ShownClickRow, toShownClick } from './shown-clicks.ts';

/** A click as the text that shows it, with what is to be known of it without reading that. */
export type ClickText = {
  tsNanos: bigint;
  linkId: string;
  isBot: boolean;
  /** The JSON of its `clickRecord`, to the byte. */
  json: string;
};

/** How rows of `SHOWN_COLUMNS` are to be written for {@link toClickText}: a `/` as it is, as JavaScript does. */
export const SHOWN_AS_TEXT = { output_format_json_escape_forward_slashes: 0 } as const;

/** What stands before a row's time, and between its start and its link's id once that is gone. */
const BEFORE_NANOS = '{"nanos":"';
const BEFORE_LINK = '"link_id":"';
const UUID_LENGTH = 36;

/**
 * A row's line is what the click is shown as but for its head, which says the time in another way: so it is passed on instead of
 * being read and written again, which took the half of a page's time in this process. The store escapes some characters that
 * JavaScript does not, and in another way; a row with any is read.
 *
 * @param line a row of `SHOWN_COLUMNS`, written as {@link SHOWN_AS_TEXT} says
 */
export function toClickText(line: string): ClickText {
  const end = line.indexOf('"', BEFORE_NANOS.length);
  const tsNanos = BigInt(line.slice(BEFORE_NANOS.length, end));
  const shown = line.slice(end + 2);
  return {
    tsNanos,
    linkId: shown.slice(BEFORE_LINK.length, BEFORE_LINK.length + UUID_LENGTH),
    isBot: shown.endsWith('true}'),
    json: line.includes('\\')
      ? JSON.stringify(clickRecord(toShownClick(JSON.parse(line) as ShownClickRow)))
      : `{"id":"${clickId(tsNanos)}","ts":"${formatInstant(tsNanos, 6)}",${shown}`,
  };
}
