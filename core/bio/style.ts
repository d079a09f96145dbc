import { paletteOf } from './palette.ts';
import type { Theme } from './theme.ts';

/** Fonts of the visitors' machines: none is loaded. */
const FAMILIES: Record<Theme['font'], string> = {
  system: 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif',
  serif: '"Iowan Old Style","Palatino Linotype",Palatino,"URW Palladio L",Georgia,"DejaVu Serif",serif',
  mono: 'ui-monospace,"Cascadia Code","SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace',
  rounded:
    'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Comfortaa,"Arial Rounded MT Bold",Nunito,sans-serif',
  humanist: 'Seravek,"Gill Sans Nova",Ubuntu,Calibri,"DejaVu Sans",sans-serif',
  geometric: 'Avenir,Montserrat,Corbel,"URW Gothic",Futura,"Century Gothic",sans-serif',
  slab: 'Rockwell,"Rockwell Nova","Roboto Slab","DejaVu Serif","Sitka Small",serif',
  condensed:
    'Bahnschrift,"DIN Alternate","Franklin Gothic Medium","Nimbus Sans Narrow","DejaVu Sans Condensed","Arial Narrow",sans-serif',
};

const RADII: Record<Theme['buttonRadius'], string> = {
  none: '0px',
  sm: '6px',
  md: '12px',
  lg: '20px',
  full: '32px',
};

const SHADOWS: Record<Theme['buttonShadow'], (color: string) => string> = {
  none: () => 'none',
  soft: (color) => `0 6px 18px -4px color-mix(in srgb,${color} 38%,transparent)`,
  hard: (color) => `4px 4px 0 ${color}`,
};

const BASE =
  '*{box-sizing:border-box}' +
  'html{-webkit-text-size-adjust:100%;background:var(--canvas)}' +
  'body{margin:0;min-height:100vh;min-height:100svh;font:400 1rem/1.5 var(--font);color:var(--text);overflow-wrap:anywhere;' +
  'display:flex;flex-direction:column;align-items:center;padding:clamp(1rem,5vw,3.5rem) clamp(1rem,4vw,2rem)}' +
  // A layer instead of a fixed background, which phones redraw while they scroll.
  'body::before{content:"";position:fixed;inset:0;z-index:-1;background-color:var(--canvas);' +
  'background-image:var(--image,none);background-position:center;background-size:cover}' +
  'main{width:100%;max-width:36rem;text-align:center;padding:1rem 0}' +
  '.card main{padding:2.25rem clamp(1.25rem,5vw,2.5rem);border-radius:1.75rem;background:var(--card);' +
  'box-shadow:0 1px 2px rgb(0 0 0/.06),0 18px 50px -12px rgb(0 0 0/.28)}' +
  '.glass main{-webkit-backdrop-filter:blur(18px) saturate(1.3);backdrop-filter:blur(18px) saturate(1.3);' +
  'border:1px solid rgb(255 255 255/.28)}' +
  '.avatar{display:block;width:6rem;height:6rem;margin:0 auto 1.1rem;border-radius:50%;object-fit:cover;' +
  'background:color-mix(in srgb,currentColor 12%,transparent);box-shadow:0 0 0 3px color-mix(in srgb,currentColor 14%,transparent)}' +
  'span.avatar{display:grid;place-items:center;font-size:2.4rem;font-weight:600}' +
  'h1{margin:0;font-size:clamp(1.4rem,5vw,1.75rem);line-height:1.2;font-weight:700;letter-spacing:-.01em}' +
  '.bio{margin:.6rem auto 0;max-width:30rem;white-space:pre-line}' +
  'ul{list-style:none;margin:0;padding:0}' +
  '.social{display:flex;flex-wrap:wrap;justify-content:center;gap:.25rem;margin-top:1rem}' +
  '.social a{display:grid;place-items:center;width:2.75rem;height:2.75rem;border-radius:50%;color:inherit}' +
  '.social svg{width:1.35rem;height:1.35rem;fill:currentColor}' +
  '.buttons{margin-top:1.75rem;display:grid;gap:.875rem}' +
  'h2{margin:1.1rem 0 .1rem;font-size:1.05rem;line-height:1.3;font-weight:650}' +
  '.buttons li:first-child h2{margin-top:0}' +
  '.button{display:grid;align-items:center;min-height:3.75rem;padding:.5rem .6rem;' +
  'border:2px solid var(--button-border);border-radius:var(--radius);background:var(--button);color:var(--button-text);' +
  'box-shadow:var(--shadow);font-weight:600;line-height:1.3;text-decoration:none}' +
  '.button img,.button .emoji{width:2.75rem;height:2.75rem;border-radius:max(0px,calc(var(--radius) - 6px))}' +
  '.button img{object-fit:cover;display:block}' +
  '.button .emoji{display:grid;place-items:center;font-size:1.4rem;line-height:1}' +
  '.button .label{padding:0 .25rem}.pictured{grid-template-columns:2.75rem 1fr 2.75rem}' +
  '.footer-image{display:block;max-width:min(100%,20rem);max-height:10rem;margin:2rem auto 0;object-fit:contain}' +
  'footer{margin:2.25rem 0 0;font-size:.8125rem}' +
  ':focus-visible{outline:3px solid currentColor;outline-offset:3px}' +
  '@media(hover:hover){.button:hover{filter:brightness(1.06)}.social a:hover{background:color-mix(in srgb,currentColor 12%,transparent)}}' +
  '@media(prefers-reduced-motion:no-preference){.button{transition:transform .15s ease,filter .15s ease}' +
  '.button:hover{transform:translateY(-2px)}.button:active{transform:none}}' +
  '@media print{body::before{display:none}}';

/** Returns a theme as a style sheet, the classes of `body`, and the color of the browser's frame. */
export function styleOf(theme: Theme): { css: string; classes: string; frame: string } {
  const palette = paletteOf(theme);
  const properties: Record<string, string | null> = {
    font: FAMILIES[theme.font],
    canvas: palette.canvas.color,
    image: palette.canvas.image,
    card: palette.card?.color ?? null,
    text: palette.text,
    button: palette.button.color,
    'button-text': palette.button.text,
    'button-border': palette.button.border,
    radius: RADII[theme.buttonRadius],
    shadow: SHADOWS[theme.buttonShadow](palette.button.shadow),
  };
  const root = Object.entries(properties)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');
  return {
    css: `:root{${root}}${BASE}`,
    classes: palette.card ? (palette.card.blurred ? 'card glass' : 'card') : '',
    frame: palette.frame,
  };
}
