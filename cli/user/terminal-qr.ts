import { qrModules } from '../../core/qr/code.ts';
import { QUIET_ZONE, qrAddress } from '../../core/qr/layout.ts';

/** Black on white, whatever the colors of the terminal are. */
const COLORS = '\u001b[30;107m';
const RESET = '\u001b[0m';

/** Returns the QR code of a link for a terminal: a character is two modules, one above the other. */
export function terminalQr(shortUrl: string): string {
  const modules = qrModules(qrAddress(shortUrl), 'M');
  const side = modules.length + 2 * QUIET_ZONE;
  const isDark = (row: number, column: number) => modules[row - QUIET_ZONE]?.[column - QUIET_ZONE] === true;
  const lines: string[] = [];
  for (let row = 0; row < side; row += 2) {
    const line = Array.from({ length: side }, (_, column) => {
      const halves = [isDark(row, column), isDark(row + 1, column)];
      return halves[0] ? (halves[1] ? '█' : '▀') : halves[1] ? '▄' : ' ';
    });
    lines.push(`${COLORS}${line.join('')}${RESET}`);
  }
  return lines.join('\n');
}
