import type { Command } from 'commander';

/** A command failed; its message needs no stack trace. Exit status 1. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
}

/** Prints a command's result: one JSON document with `--json`, else `text(result)`. */
export function printResult<T>(command: Command, result: T, text: (result: T) => string): void {
  const json = command.optsWithGlobals<{ json?: boolean }>().json === true;
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${text(result)}\n`);
}

/** Formats rows as a text table with aligned columns. */
export function table(header: string[], rows: string[][]): string {
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
