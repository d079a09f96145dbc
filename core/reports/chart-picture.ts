import { PNG } from 'pngjs';

/** Size of the picture in a mail, in pixels of a page. It has twice as many for fine screens. */
export const CHART_SIZE = { width: 510, height: 140 };
const SCALE = 2;
/** Widest bar, and the gap between two. Pixels of the picture. */
const WIDEST = 48;

/** Both read well on a white and on a dark ground: the picture has none of its own. */
const NOW = [46, 154, 100] as const;
const BEFORE = [148, 157, 168] as const;

/**
 * Draws a chart of bars, as PNG: green the values, and gray behind them those of the period before. It has no text, which
 * would need a font.
 */
export function chartPicture(values: readonly number[], before: readonly number[]): Buffer {
  const width = CHART_SIZE.width * SCALE;
  const height = CHART_SIZE.height * SCALE;
  const image = new PNG({ width, height });
  const count = Math.max(1, values.length, before.length);
  const highest = Math.max(1e-9, ...values, ...before);
  const step = Math.min(width / count, 2 * WIDEST);
  const bar = Math.max(1, Math.floor(step * 0.62));
  const behind = Math.max(1, Math.floor(step * 0.84));
  const base = height - 2;
  const draw = (n: number, value: number, wide: number, color: readonly [number, number, number]) => {
    const high = value <= 0 ? 0 : Math.max(2, Math.round((value / highest) * (base - 2)));
    const left = Math.floor(n * step + (step - wide) / 2);
    fill(image, { left, top: base - high, right: Math.min(width, left + wide), bottom: base }, color);
  };
  for (let n = 0; n < count; n++) {
    draw(n, before[n] ?? 0, behind, BEFORE);
    draw(n, values[n] ?? 0, bar, NOW);
  }
  fill(image, { left: 0, top: base, right: width, bottom: height }, BEFORE);
  return PNG.sync.write(image);
}

type Box = { left: number; top: number; right: number; bottom: number };

function fill({ data, width }: PNG, box: Box, [red, green, blue]: readonly [number, number, number]): void {
  for (let y = box.top; y < box.bottom; y++) {
    for (let at = 4 * (y * width + box.left), end = 4 * (y * width + box.right); at < end; at += 4) {
      data[at] = red;
      data[at + 1] = green;
      data[at + 2] = blue;
      data[at + 3] = 255;
    }
  }
}
