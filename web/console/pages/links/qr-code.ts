/** Modules of light around a code that scanners need (ISO/IEC 18004). */
const QUIET_ZONE = 4;
/** Least width of a PNG, in pixels: sharp on a poster's proof, small as a file. */
const PNG_WIDTH = 1_024;

/** A QR code as a square of modules; true is dark. The quiet zone is not in it. */
export type QrModules = boolean[][];

/**
 * The code of a text, with the library loaded when it is first needed. Level M reads with 15 % of it damaged.
 */
export async function qrModules(text: string): Promise<QrModules> {
  const { default: qrcode } = await import('qrcode-generator');
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const rows = [...Array(code.getModuleCount()).keys()];
  return rows.map((row) => rows.map((column) => code.isDark(row, column)));
}

/** The code as a standalone SVG, black on white with its quiet zone. @param title said by screen readers */
export function qrSvg(modules: QrModules, title: string): string {
  const size = modules.length + 2 * QUIET_ZONE;
  const path = modules
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + QUIET_ZONE} ${y + QUIET_ZONE}h1v1h-1z` : '')))
    .join('');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" role="img">` +
    `<title>${escaped(title)}</title><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`
  );
}

/** The same as PNG, each module a whole number of pixels wide. */
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

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
