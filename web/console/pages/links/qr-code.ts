import { type QrModules, QUIET_ZONE } from '../../../../core/qr/layout.ts';
import { qrSvg as drawnSvg } from '../../../../core/qr/svg.ts';

/** Minimum width of a PNG, in pixels. */
const PNG_WIDTH = 1_024;
const BLACK_ON_WHITE = { color: [0, 0, 0], background: [255, 255, 255] } as const;
/** Pixels of a module in the SVG, which scales to any size. */
const SVG_SCALE = 8;

/** The QR code of a text. Lazily loads the library. Level M tolerates 15% damage. */
export async function qrModules(text: string): Promise<QrModules> {
  const { qrModules: codeOf } = await import('../../../../core/qr/code.ts');
  return codeOf(text, 'M');
}

/** The code as SVG, black on white with quiet zone. @param title for screen readers */
export function qrSvg(modules: QrModules, title: string): string {
  const size = SVG_SCALE * (modules.length + 2 * QUIET_ZONE);
  return drawnSvg(modules, { size, margin: QUIET_ZONE, ...BLACK_ON_WHITE }, title, null);
}

/** The code as PNG; modules are whole pixels wide. */
export async function qrPng(modules: QrModules): Promise<Blob> {
  const size = modules.length + 2 * QUIET_ZONE;
  const scale = Math.ceil(PNG_WIDTH / size);
  const canvas = document.createElement('canvas');
  canvas.width = size * scale;
  canvas.height = size * scale;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser draws no images');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#000';
  for (const [y, row] of modules.entries()) {
    for (const [x, dark] of row.entries()) {
      if (dark) context.fillRect((x + QUIET_ZONE) * scale, (y + QUIET_ZONE) * scale, scale, scale);
    }
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('this browser writes no PNG'))));
  });
}
