/** A CSV document (RFC 4180). Starts with a byte order mark, without which spreadsheets take it for Latin-1. */
export function csvText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return `\uFEFF${[header, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('')}`;
}

/**
 * A text that a spreadsheet would run as a formula gets an apostrophe in front, as OWASP advises ("CSV injection"). So
 * does one that has such an apostrophe of its own: an import takes one off (core/link-imports/formats/hoplog.ts).
 */
export function textCell(text: string): string {
  return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
