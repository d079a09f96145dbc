/** Width of the quiet zone in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;
/** Minimum width of a PNG, in pixels. */
const PNG_WIDTH = 1_024;

/** A QR code as a square of modules without quiet zone; true is dark. */
export type QrModules = boolean[][];

/**
 * The QR code of a text. Lazily loads the library. Level M tolerates 15% damage.
 */
export async function qrModules(text: string): Promise<QrModules> {
  const { default: qrcode } = await import('qrcode-generator');
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const rows = [...Array(code.getModuleCount()).keys()];
  return rows.map((row) => rows.map((column) => code.isDark(row, column)));
}

/** The code as SVG, black on white with quiet zone. @param title for screen readers */
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

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
