// Browsers run this file too.

/** A CSV document (RFC 4180) with a byte order mark, without which spreadsheets assume Latin-1. */
export function csvText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return `\uFEFF${csvLines([header, ...rows])}`;
}

/** Rows of CSV (RFC 4180), for programs: without a byte order mark. */
export function csvLines(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

/**
 * Prefixes an apostrophe to a text that a spreadsheet would run as a formula (OWASP, "CSV injection"), and to one that
 * already has such an apostrophe: an import removes one (core/link-imports/formats/hoplog.ts).
 */
export function textCell(text: string): string {
  return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
