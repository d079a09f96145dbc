// Browsers run this file too.
import qrcode from 'qrcode-generator';
import type { QrLevel, QrModules } from './layout.ts';

/** Returns the smallest QR code of an ASCII text. */
export function qrModules(text: string, level: QrLevel): QrModules {
  const code = qrcode(0, level);
  code.addData(text);
  code.make();
  const rows = [...Array(code.getModuleCount()).keys()];
  return rows.map((row) => rows.map((column) => code.isDark(row, column)));
}
