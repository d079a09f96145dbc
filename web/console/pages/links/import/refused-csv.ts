import { csvText, textCell } from '../../../../../core/text/csv-text.ts';
import type { ImportFile, Refusal } from './import-pieces.ts';

/**
 * A CSV of the refused rows, with line and reason in front, that can be corrected and imported again.
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

/** The reason with its field. */
export const reasonOf = ({ field, message }: Refusal) => (field === null ? message : `${field}: ${message}`);
