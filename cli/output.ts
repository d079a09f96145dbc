import type { Command } from 'commander';

/** Thrown when a command failed; its message needs no stack trace. Exit status 1. */
export class CommandFailed extends Error {
  override name: string = 'CommandFailed';
}

/** Thrown when an argument or an option is missing or wrong. Exit status 2. */
export class WrongUsage extends CommandFailed {
  override name = 'WrongUsage';
}

/** Whether a command was given `--json`. */
export const isJson = (command: Command): boolean =>
  command.optsWithGlobals<{ json?: boolean }>().json === true;

/** Prints a command's result: one JSON document with `--json`, else `text(result)`. */
export function printResult<T>(command: Command, result: T, text: (result: T) => string): void {
  process.stdout.write(isJson(command) ? `${JSON.stringify(result)}\n` : `${text(result)}\n`);
}

/** Control characters, and those that change the direction of text: a terminal would interpret them. */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes characters that a terminal interprets, because names come from users. */
function shown(text: string): string {
  return text.replace(CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** {@link shown}, line by line. */
export function shownLines(text: string): string {
  return text.split('\n').map(shown).join('\n');
}

const segmenter = new Intl.Segmenter();
/** Characters that take two columns of a terminal: East Asian letters (UAX #11) and emoji. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|.*\ufe0f)/u;

const columnsOf = (character: string) => (WIDE.test(character) ? 2 : 1);

/** Returns the columns that a text takes on a terminal. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return [...segmenter.segment(text)].reduce((sum, { segment }) => sum + columnsOf(segment), 0);
}

/** Cuts a text to at most `width` columns; the last one is then an ellipsis. */
export function clipped(text: string, width: number): string {
  const whole = shown(text);
  if (widthOf(whole) <= width) return whole;
  let kept = '';
  let used = 1;
  for (const { segment } of segmenter.segment(whole)) {
    used += columnsOf(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Formats a text as a cell of a width, in columns. It is {@link clipped}. */
export function cell(text: string, width: number): string {
  const kept = clipped(text, width);
  return kept + ' '.repeat(width - widthOf(kept));
}

/**
 * Formats rows as a text table with aligned columns. Cells are {@link shown}.
 *
 * @param figures indexes of columns with figures, which are aligned at their right
 */
export function table(header: string[], given: string[][], figures: readonly number[] = []): string {
  const rows = given.map((row) => row.map(shown));
  const widths = header.map((title, column) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  const line = (cells: string[]) =>
    cells
      .map((text, column) => {
        const blanks = ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(text)));
        return figures.includes(column) ? blanks + text : text + blanks;
      })
      .join('  ')
      .trimEnd();
  return [line(header), ...rows.map(line)].join('\n');
}
