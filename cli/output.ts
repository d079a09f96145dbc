import type { Command } from 'commander';

/** Thrown when a command failed; its message needs no stack trace. Exit status 1. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
}

/** Prints a command's result: one JSON document with `--json`, else `text(result)`. */
export function printResult<T>(command: Command, result: T, text: (result: T) => string): void {
  const json = command.optsWithGlobals<{ json?: boolean }>().json === true;
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${text(result)}\n`);
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

/** Formats rows as a text table with aligned columns. Cells are {@link shown}. */
export function table(header: string[], given: string[][]): string {
  const rows = given.map((row) => row.map(shown));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(header), ...rows.map(line)].join('\n');
}
