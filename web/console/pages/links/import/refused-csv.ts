import { csvText, textCell } from '../csv-text.ts';
import type { ImportFile, Refusal } from './import-pieces.ts';

/**
 * The refused rows as a file: their line and the reason in front, then the rows as they were, so that it can be
 * mended and imported again.
 */
export function refusedCsv({ header }: Pick<ImportFile, 'header'>, refused: readonly Refusal[]): string {
  if (!header) {
    return csvText(
      ['line', 'reason', 'row'],
      refused.map((one) => [String(one.line), textCell(reasonOf(one)), textCell(one.row)]),
    );
  }
  const { delimiter } = header;
  const cell = (text: string) => `"${textCell(text).replaceAll('"', '""')}"`;
  const lines = refused.map((one) => `${one.line}${delimiter}${cell(reasonOf(one))}${delimiter}${one.row}`);
  const head = `line${delimiter}reason${delimiter}${header.text.replace(/^\uFEFF/, '')}`;
  return `\uFEFF${[head, ...lines].map((line) => `${line}\r\n`).join('')}`;
}

/** What was wrong, with the column that it is about. */
export const reasonOf = ({ column, message }: Refusal) =>
  column === null ? message : `${column}: ${message}`;
