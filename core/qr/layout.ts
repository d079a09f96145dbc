// Browsers run this file too.
/** Error correction: a code stays readable with 7, 15, 25 or 30 percent of it damaged (ISO/IEC 18004). */
export const QR_LEVELS = ['L', 'M', 'Q', 'H'] as const;
export type QrLevel = (typeof QR_LEVELS)[number];

/** Levels that allow a logo in the middle. */
export const LOGO_LEVELS: readonly QrLevel[] = ['Q', 'H'];

/** Shapes of modules. */
export const QR_SHAPES = ['square', 'rounded', 'dots'] as const;
export type QrShape = (typeof QR_SHAPES)[number];

/** Width of the quiet zone in modules (ISO/IEC 18004). */
export const QUIET_ZONE = 4;

/** A QR code as a square of modules without quiet zone; true is dark. */
export type QrModules = boolean[][];

/**
 * Returns the address in a link's QR code. The redirect does not pass `qr=1` on, and the click's `trigger` is `qr`.
 *
 * @param shortUrl without query
 */
export function qrAddress(shortUrl: string): string {
  return `${shortUrl}?qr=1`;
}

/**
 * Returns the width of the square in the middle that a logo takes, in modules: an odd number, as the code's width is.
 * It is at most a quarter of the width, so that the level Q corrects the hidden modules.
 */
export function logoSpan(modules: QrModules): number {
  return 2 * Math.floor(modules.length * 0.12) + 1;
}

/** Returns the width of the logo itself, in modules: half a module of its square stays free on each side. */
export const logoSide = (modules: QrModules): number => logoSpan(modules) - 1;
